using System.Globalization;
using System.Text;

namespace Esb.Host.Logging;

/// <summary>A file that lines are added to. When it is full it becomes <c>name.1.log</c>, what was that <c>name.2.log</c>, and so on up to four. Thread-safe.</summary>
/// <param name="folder">Where it is; has to be there.</param>
/// <param name="name">Its name without <c>.log</c>.</param>
/// <param name="maxSize">In bytes, from which on it counts as full.</param>
internal sealed class LogFile(string folder, string name, long maxSize) : IDisposable
{
    private const int Kept = 4;

    private readonly Lock _gate = new();
    private FileStream? _stream;
    private bool _isClosed;

    /// <summary>Adds text, which the file system has when this returns.</summary>
    /// <exception cref="IOException">The disk is full, or the folder has gone.</exception>
    /// <exception cref="UnauthorizedAccessException">This user may not write there.</exception>
    public void Add(string text)
    {
        var bytes = Encoding.UTF8.GetBytes(text);
        lock (_gate)
        {
            _stream ??= Open();
            if (_stream.Length > 0 && _stream.Length + bytes.Length > maxSize) TryRoll();
            _stream ??= Open();
            _stream.Write(bytes);
            if (_isClosed) Close(); // a line that was on its way
        }
    }

    public void Dispose()
    {
        lock (_gate)
        {
            _isClosed = true;
            Close();
        }
    }

    private void Close()
    {
        _stream?.Dispose();
        _stream = null;
    }

    private FileStream Open()
    {
        var options = new FileStreamOptions { Mode = FileMode.Append, Access = FileAccess.Write, Share = FileShare.Read, BufferSize = 0 };
        if (!OperatingSystem.IsWindows()) options.UnixCreateMode = UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.GroupRead;
        return new FileStream(PathOf(0), options);
    }

    // Where the folder does not let it the file grows on: better too large than nothing.
    private void TryRoll()
    {
        _stream!.Dispose();
        _stream = null;
        try
        {
            for (var age = Kept - 1; age >= 0; age--)
            {
                if (File.Exists(PathOf(age))) File.Move(PathOf(age), PathOf(age + 1), overwrite: true);
            }
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
        {
            maxSize += maxSize; // not at every line again
        }
    }

    private string PathOf(int age) => Path.Combine(folder, age == 0 ? $"{name}.log" : string.Create(CultureInfo.InvariantCulture, $"{name}.{age}.log"));
}
