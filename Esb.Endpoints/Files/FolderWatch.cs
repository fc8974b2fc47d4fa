using System.Threading.Channels;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Files;

/// <summary>Wakes a reader when an entry appears in a folder. Only a hint: the folder is also scanned at intervals.</summary>
/// <param name="endpoint">The endpoint that reads the folder.</param>
/// <param name="folder">The folder.</param>
/// <param name="time">Measures pauses.</param>
/// <param name="logger">Receives, once, the report that the folder cannot be watched.</param>
/// <param name="open">Opens the watcher.</param>
internal sealed partial class FolderWatch(
    string endpoint,
    string folder,
    TimeProvider time,
    ILogger logger,
    Func<string, FileSystemWatcher> open
) : IDisposable
{
    private readonly Channel<bool> _wakes = Channel.CreateBounded<bool>(
        new BoundedChannelOptions(1) { FullMode = BoundedChannelFullMode.DropWrite }
    );
    private FileSystemWatcher? _watcher;
    private int _warned;

    /// <summary>Starts watching the folder, unless that has failed before.</summary>
    public void Begin()
    {
        if (_watcher is not null || _warned != 0)
            return;
        try
        {
            _watcher = open(folder);
            _watcher.Created += (_, _) => Wake();
            _watcher.Renamed += (_, _) => Wake();
            _watcher.Error += (_, failure) => Fail(failure.GetException());
            _watcher.NotifyFilter = NotifyFilters.FileName;
            _watcher.EnableRaisingEvents = true;
        }
        catch (Exception ex) when (ex is IOException or ArgumentException)
        {
            Fail(ex); // the system has no watches left, or the folder has just disappeared
        }
    }

    /// <summary>Waits for the pause to elapse, or for a new entry if <paramref name="isWakeable"/> is true.</summary>
    public async Task WaitAsync(TimeSpan pause, bool isWakeable, CancellationToken cancellationToken)
    {
        using var ended = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        var delay = Task.Delay(pause, time, ended.Token);
        if (isWakeable)
            await Task.WhenAny(delay, _wakes.Reader.ReadAsync(ended.Token).AsTask());
        else
            await delay;
        await ended.CancelAsync();
        cancellationToken.ThrowIfCancellationRequested();
    }

    /// <summary>Stops watching while the folder is unavailable.</summary>
    public void End()
    {
        _watcher?.Dispose();
        _watcher = null;
    }

    public void Dispose() => End();

    private void Wake() => _wakes.Writer.TryWrite(true);

    private void Fail(Exception cause)
    {
        if (Interlocked.Exchange(ref _warned, 1) == 0)
            LogNotWatched(cause, endpoint);
        Wake();
    }

    [LoggerMessage(
        EventId = 2230,
        Level = LogLevel.Warning,
        Message = "The folder of {Endpoint} cannot be watched, or not all of it; its files are found by looking every interval"
    )]
    private partial void LogNotWatched(Exception cause, string endpoint);
}
