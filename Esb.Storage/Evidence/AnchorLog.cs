using System.Globalization;
using System.Text;
using Esb.Configuration;
using Esb.Core.Storage;
using Microsoft.Extensions.Logging;

namespace Esb.Storage.Evidence;

/// <summary>Writes anchors to a file of this process: the heads of its chains, periodically and at the end, and the days that were dropped.
/// Thread-safe.</summary>
/// <remarks>An anchor that cannot be written, or whose disk does not respond, delays no fact; it is written with the next
/// anchors.</remarks>
internal sealed partial class AnchorLog : IAsyncDisposable
{
    // The number of facts in a busy minute: limits what a crash leaves without an anchor, whatever the interval.
    private const long MaxUnanchored = 100_000;

    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(5);

    private readonly string _path;
    private readonly byte[] _key;
    private readonly TimeSpan _interval;
    private readonly TimeProvider _time;
    private readonly ILogger _logger;
    private readonly Lock _lock = new(); // guards the waiting heads: never held during disk access
    private readonly Lock _file = new(); // taken first if both are needed
    private readonly Dictionary<(Guid Chain, DateOnly Day), ChainHead> _waiting = [];
    private TaskCompletionSource _many = NewSignal();
    private readonly CancellationTokenSource _stopping = new();
    private readonly Task _loop;
    private byte[] _previous = [];
    private long _unanchored;

    private AnchorLog(string folder, string key, TimeSpan interval, TimeProvider time, ILogger logger)
    {
        var now = time.GetUtcNow();
        _path = Path.Combine(
            folder,
            string.Create(
                CultureInfo.InvariantCulture,
                $"{now:yyyyMMdd-HHmmss}-{Environment.MachineName}-{Guid.NewGuid():N}{AnchorFile.Extension}"
            )
        );
        (_key, _interval, _time, _logger) = (Encoding.UTF8.GetBytes(key), interval, time, logger);
        _loop = RunAsync(_stopping.Token);
    }

    /// <summary>Opens the log; null if no anchors are configured.</summary>
    public static AnchorLog? TryOpen(AuditEvidenceConfig config, TimeProvider time, ILogger logger) =>
        config is { Anchors: { } folder, AnchorKey: { } key } ? new AnchorLog(folder, key, config.AnchorInterval, time, logger) : null;

    /// <summary>Records the new head of a chain after its facts became durable. Does not access the disk.</summary>
    public void Note(Guid chain, DateOnly day, ChainHead head, int facts)
    {
        lock (_lock)
        {
            _waiting[(chain, day)] = head;
            _unanchored += facts;
            if (_unanchored >= MaxUnanchored)
                _many.TrySetResult();
        }
    }

    /// <summary>Writes anchors for all waiting heads.</summary>
    public void WriteHeads()
    {
        lock (_file)
        {
            var heads = TakeHeads();
            if (heads.Count == 0)
                return;
            try
            {
                Append([
                    .. heads.Select(head =>
                        NewAnchor(AnchorKind.Head, head.Key.Day) with
                        {
                            Chain = head.Key.Chain,
                            Count = head.Value.Number,
                            Head = head.Value.Link,
                        }
                    ),
                ]);
            }
            catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
            {
                PutBack(heads);
                LogNotAnchored(ex);
            }
        }
    }

    /// <summary>Anchors that a day is about to be dropped. The anchor comes first: a day missing without one counts as forcibly
    /// removed.</summary>
    /// <exception cref="IOException">The anchor could not be written: the day must be kept.</exception>
    /// <exception cref="UnauthorizedAccessException">The same.</exception>
    public void Release(DateOnly day, string? archive)
    {
        lock (_file)
        {
            lock (_lock)
            {
                foreach (var head in _waiting.Keys.Where(head => head.Day == day).ToList())
                    _waiting.Remove(head);
            }

            Append([NewAnchor(archive is null ? AnchorKind.Dropped : AnchorKind.Archived, day) with { Archive = archive }]);
        }
    }

    /// <summary>Anchors the remaining heads, unless that takes too long.</summary>
    public async ValueTask DisposeAsync()
    {
        if (_stopping.IsCancellationRequested)
            return;
        var cancelling = _stopping.CancelAsync(); // the loop's continuation runs within it
        await _loop.WaitAsync(Patience, _time).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        if (!_loop.IsCompleted)
        {
            LogGivenUp();
            return;
        }

        await cancelling;
        _stopping.Dispose();
    }

    private async Task RunAsync(CancellationToken stopping)
    {
        while (!stopping.IsCancellationRequested)
        {
            await WaitAsync(stopping);
            WriteHeads();
        }

        WriteHeads(); // heads noted meanwhile
    }

    // Waits for many facts, or until the interval is over.
    private async Task WaitAsync(CancellationToken stopping)
    {
        Task many;
        lock (_lock)
            many = _many.Task;
        await many.WaitAsync(_interval, _time, stopping).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
    }

    private Dictionary<(Guid Chain, DateOnly Day), ChainHead> TakeHeads()
    {
        lock (_lock)
        {
            var heads = new Dictionary<(Guid Chain, DateOnly Day), ChainHead>(_waiting);
            _waiting.Clear();
            (_unanchored, _many) = (0, NewSignal());
            return heads;
        }
    }

    // Keeps newer heads of chains that were extended meanwhile.
    private void PutBack(Dictionary<(Guid Chain, DateOnly Day), ChainHead> heads)
    {
        lock (_lock)
        {
            foreach (var (chain, head) in heads)
                _waiting.TryAdd(chain, head);
        }
    }

    private static TaskCompletionSource NewSignal() => new(TaskCreationOptions.RunContinuationsAsynchronously);

    private Anchor NewAnchor(AnchorKind kind, DateOnly day) =>
        new()
        {
            Kind = kind,
            At = _time.GetUtcNow(),
            Host = Environment.MachineName,
            Day = day,
        };

    private void Append(IReadOnlyList<Anchor> anchors)
    {
        var (lines, previous) = (new StringBuilder(), _previous);
        foreach (var anchor in anchors)
        {
            var signed = AnchorFile.Sign(anchor, previous, _key);
            lines.Append(AnchorFile.ToLine(signed));
            previous = signed.Mac!;
        }

        var folder = Path.GetDirectoryName(_path)!;
        OwnerFolder.Make(folder);
        var isNew = !File.Exists(_path);
        using (var file = OwnerFile.Open(_path, FileMode.OpenOrCreate, share: FileShare.Read))
        {
            var end = file.Seek(0, SeekOrigin.End);
            try
            {
                file.Write(Encoding.UTF8.GetBytes(lines.ToString()));
                file.Flush(flushToDisk: true);
            }
            catch (IOException)
            {
                file.SetLength(end); // a partial line would corrupt those that follow
                throw;
            }
        }

        _previous = previous; // the lines are in the file, even if flushing its folder fails
        if (isNew)
            DurableFolder.Flush(folder);
    }

    [LoggerMessage(
        EventId = 4570,
        Level = LogLevel.Error,
        Message = "the anchors of the audit could not be written; they are tried again with the next ones"
    )]
    private partial void LogNotAnchored(Exception exception);

    [LoggerMessage(
        EventId = 4571,
        Level = LogLevel.Error,
        Message = "the folder of the anchors does not answer; the last facts stay without an anchor"
    )]
    private partial void LogGivenUp();
}
