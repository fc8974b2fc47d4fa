using System.Globalization;
using System.Text;

namespace Esb.Host.Logging;

/// <summary>A rotating log file. A full file becomes <c>name.1.log</c>, its predecessor <c>name.2.log</c>, and so on up to four.
/// Thread-safe.</summary>
/// <param name="folder">The folder; must exist.</param>
/// <param name="name">The file name without <c>.log</c>.</param>
/// <param name="maxSize">The rotation size in bytes.</param>
internal sealed class LogFile(string folder, string name, long maxSize) : IDisposable
{
    private const int Kept = 4;

    private readonly Lock _gate = new();
    private FileStream? _stream;
    private bool _isClosed;

    /// <summary>Appends text; on return the text has been passed to the file system.</summary>
    /// <exception cref="IOException">The disk is full, or the folder was removed.</exception>
    /// <exception cref="UnauthorizedAccessException">The user lacks write permission.</exception>
    public void Add(string text)
    {
        var bytes = Encoding.UTF8.GetBytes(text);
        lock (_gate)
        {
            _stream ??= Open();
            if (_stream.Length > 0 && _stream.Length + bytes.Length > maxSize)
                TryRoll();
            _stream ??= Open();
            _stream.Write(bytes);
            if (_isClosed)
                Close(); // a line written during the close
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
        var options = new FileStreamOptions
        {
            Mode = FileMode.Append,
            Access = FileAccess.Write,
            Share = FileShare.Read,
            BufferSize = 0,
        };
        if (!OperatingSystem.IsWindows())
            options.UnixCreateMode = UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.GroupRead;
        return new FileStream(PathOf(0), options);
    }

    // If the folder does not allow rotation, the file keeps growing: an oversized log is better than none.
    private void TryRoll()
    {
        _stream!.Dispose();
        _stream = null;
        try
        {
            for (var age = Kept - 1; age >= 0; age--)
            {
                if (File.Exists(PathOf(age)))
                    File.Move(PathOf(age), PathOf(age + 1), overwrite: true);
            }
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
        {
            maxSize += maxSize; // avoids a retry at every line
        }
    }

    private string PathOf(int age) =>
        Path.Combine(folder, age == 0 ? $"{name}.log" : string.Create(CultureInfo.InvariantCulture, $"{name}.{age}.log"));
}
