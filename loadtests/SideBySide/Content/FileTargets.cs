using System.Diagnostics;
using System.Globalization;
using SideBySide.Measuring;
using SideBySide.Servers;
using SideBySide.Targets;

namespace SideBySide.Content;

/// <summary>A large file that gets to another place; the rate is in millions of bytes.</summary>
/// <param name="source">The file.</param>
internal abstract class FileTarget(string source) : ITarget
{
    protected static readonly TimeSpan Deadline = TimeSpan.FromSeconds(170);

    public abstract string Name { get; }

    public abstract string Settings { get; }

    public string? WarmKey => null;

    protected string Source => source;

    public virtual Task<string?> CheckAsync(CancellationToken cancellationToken) => Task.FromResult<string?>(null);

    public async Task<Sample> MeasureAsync(TimeSpan duration, CancellationToken cancellationToken)
    {
        await Tool.RunAsync(["sync"], [], Deadline, cancellationToken); // what others left unwritten is not ours to write
        var began = Stopwatch.GetTimestamp();
        var copy = await CopyAsync(cancellationToken);
        var time = Stopwatch.GetElapsedTime(began);
        var (length, wanted) = (new FileInfo(copy).Length, new FileInfo(source).Length);
        var isSame = length == wanted && await AreSameAsync(copy, cancellationToken);
        File.Delete(copy);
        return isSame ? new Sample(wanted / 1e6 / time.TotalSeconds) : Sample.Wrong("the copy is not the same");
    }

    /// <summary>Copies the file and returns where it is, flushed to disk.</summary>
    protected abstract Task<string> CopyAsync(CancellationToken cancellationToken);

    protected static Task RunAsync(IReadOnlyList<string> command, CancellationToken cancellationToken) =>
        Tool.RunAsync(command, [], Deadline, cancellationToken);

    private async Task<bool> AreSameAsync(string copy, CancellationToken cancellationToken)
    {
        try
        {
            await RunAsync(["cmp", source, copy], cancellationToken);
            return true;
        }
        catch (NotRunException)
        {
            return false;
        }
    }
}

/// <summary><c>cp</c> and <c>sync</c>.</summary>
internal sealed class CopyTarget(string source, string folder) : FileTarget(source)
{
    public override string Name => "cp && sync";

    public override string Settings => "coreutils; sync of the copy alone";

    protected override async Task<string> CopyAsync(CancellationToken cancellationToken)
    {
        var copy = Path.Combine(folder, "copied.bin");
        await RunAsync(["cp", Source, copy], cancellationToken);
        await RunAsync(["sync", copy], cancellationToken);
        return copy;
    }
}

/// <summary>curl that gets the file from nginx, and <c>sync</c>.</summary>
internal sealed class CurlTarget(string source, string folder, NginxServer nginx) : FileTarget(source)
{
    public override string Name => "curl && sync";

    public override string Settings => "curl -o of a file that nginx serves (HTTP/1.1, loopback), then sync of the file";

    protected override async Task<string> CopyAsync(CancellationToken cancellationToken)
    {
        var copy = Path.Combine(folder, "curled.bin");
        await RunAsync(["curl", "-sSf", "-o", copy, $"{nginx.Url}/{Path.GetFileName(Source)}"], cancellationToken);
        await RunAsync(["sync", copy], cancellationToken);
        return copy;
    }
}

/// <summary>A host that writes what it gets to a file, and says so once it is on disk.</summary>
/// <param name="host">The host.</param>
/// <param name="source">The file.</param>
/// <param name="folder">The folder of the host.</param>
/// <param name="isUpload">True for a request, false for a file in a folder.</param>
internal sealed class StreamedTarget(EsbHost host, string source, string folder, bool isUpload) : FileTarget(source)
{
    private readonly string _collector = host.Collector;
    private long _before;
    private long _peak;

    public override string Name => isUpload ? "HTTP to file" : "file to file";

    public override string Settings =>
        string.Create(
            CultureInfo.InvariantCulture,
            $"{_collector} collector; streamed, call of file-outbound, facts recorded, the file flushed before its sender hears of it; "
                + $"memory of the host {_before >> 20} MB before and {_peak >> 20} MB at its peak"
        );

    private string Kept => Path.Combine(folder, "kept");

    public override async Task<string?> CheckAsync(CancellationToken cancellationToken)
    {
        var small = Path.Combine(folder, $"small-{isUpload}.bin");
        await File.WriteAllBytesAsync(small, new byte[1 << 20], cancellationToken);
        File.Delete(await PassAsync(small, cancellationToken));
        _before = host.PeakMemoryBytes;
        return null;
    }

    protected override async Task<string> CopyAsync(CancellationToken cancellationToken)
    {
        var copy = await PassAsync(Source, cancellationToken);
        _peak = host.PeakMemoryBytes;
        return copy;
    }

    private async Task<string> PassAsync(string file, CancellationToken cancellationToken)
    {
        if (isUpload)
        {
            await RunAsync(
                ["curl", "-sSf", "-X", "POST", "-H", "Expect:", "-T", file, "-o", "/dev/null", $"{host.Url}/uploads"],
                cancellationToken
            );
            return Directory.GetFiles(Kept, "*.bin").Single();
        }

        var (place, done) = (Path.Combine(folder, "files"), Path.Combine(folder, "files", "done"));
        Directory.CreateDirectory(place);
        var name = $"{Guid.NewGuid():N}.bin";
        await RunAsync(["ln", file, Path.Combine(place, name)], cancellationToken); // no copy
        var began = Stopwatch.GetTimestamp();
        while (!File.Exists(Path.Combine(done, name)))
        {
            if (Stopwatch.GetElapsedTime(began) > Deadline)
                throw new NotRunException("the file was not taken in");
            await Task.Delay(5, cancellationToken);
        }

        File.Delete(Path.Combine(done, name));
        return Directory.GetFiles(Kept, "*.bin").Single();
    }
}
