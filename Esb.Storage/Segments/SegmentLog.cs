using System.Threading.Channels;
using Microsoft.Extensions.Logging;

namespace Esb.Storage.Segments;

/// <summary>Appends records to the segments of a folder, durably; concurrent calls share one write and one flush. Thread-safe.</summary>
/// <remarks>The last segment is repaired when the folder is opened; one process writes to a folder at a time.</remarks>
internal sealed partial class SegmentLog : IAsyncDisposable
{
    // Two buffers for each record, and at most 1,024 of them fit one call of the system (IOV_MAX).
    private const int MaxGroup = 512;

    private readonly string _folder;
    private readonly ILogger _logger;
    private readonly FolderLock _lock;
    private readonly SegmentWriter _writer;
    private readonly DiskProbe _probe;
    private readonly ISegmentListener? _listener;
    private readonly GroupCommit<SegmentEntry> _commits;
    private readonly Channel<bool> _grown = Channel.CreateBounded<bool>(new BoundedChannelOptions(1) { FullMode = BoundedChannelFullMode.DropWrite });
    private readonly Channel<bool> _rolled = Channel.CreateBounded<bool>(new BoundedChannelOptions(1) { FullMode = BoundedChannelFullMode.DropWrite });
    private volatile SegmentPosition _committed;

    private SegmentLog(string folder, SegmentOptions options, ILogger logger, FolderLock folderLock, ISegmentListener? listener)
    {
        _folder = folder;
        _listener = listener;
        _logger = logger;
        _lock = folderLock;
        var recovery = new SegmentRecovery(folder, logger);
        _committed = recovery.Run();
        Damages = recovery.Damages;
        _writer = new SegmentWriter(folder, _committed, options.MaxSegmentBytes);
        _probe = new DiskProbe(folder);
        _commits = new GroupCommit<SegmentEntry>(CommitAsync, MaxGroup);
    }

    /// <summary>The position behind the last durable record.</summary>
    public SegmentPosition Committed => _committed;

    /// <summary>The positions of damage that was reported when the folder was opened.</summary>
    public ISet<SegmentPosition> Damages { get; }

    /// <summary>Becomes readable after records were appended.</summary>
    public ChannelReader<bool> Grown => _grown.Reader;

    /// <summary>Becomes readable after a segment was completed.</summary>
    public ChannelReader<bool> Rolled => _rolled.Reader;

    /// <summary>The reason why the log cannot be written; null if it can. After a failure the disk is probed from time to time, because
    /// there may be no other writes.</summary>
    public string? Trouble => _probe.FindTrouble();

    /// <param name="folder">The folder.</param>
    /// <param name="options">The options for writing.</param>
    /// <param name="logger">Logs damage.</param>
    /// <param name="listener">Receives every durable record, before the call that appended it returns; null for none.</param>
    /// <exception cref="Core.Errors.EsbException"><c>ESB-STORE-INUSE</c>: another process writes to the folder. <c>ESB-STORE-FOLDER</c>: it
    /// cannot be written.</exception>
    public static SegmentLog Open(string folder, SegmentOptions options, ILogger logger, ISegmentListener? listener = null)
    {
        var folderLock = FolderLock.Take(folder);
        try
        {
            return new SegmentLog(folder, options, logger, folderLock, listener);
        }
        catch
        {
            folderLock.Dispose();
            throw;
        }
    }

    /// <summary>Appends a record; durable when it returns.</summary>
    /// <exception cref="IOException">It could not be written.</exception>
    public Task AppendAsync(ReadOnlyMemory<byte> payload, CancellationToken cancellationToken) => AppendAsync(new SegmentEntry(payload), cancellationToken);

    /// <inheritdoc cref="AppendAsync(ReadOnlyMemory{byte}, CancellationToken)"/>
    public Task AppendAsync(SegmentEntry entry, CancellationToken cancellationToken) => _commits.AddAsync(entry, cancellationToken);

    public async ValueTask DisposeAsync()
    {
        await _commits.DisposeAsync();
        _grown.Writer.TryComplete();
        _rolled.Writer.TryComplete();
        _writer.Dispose();
        _lock.Dispose();
    }

    private Task CommitAsync(IReadOnlyList<SegmentEntry> group)
    {
        try
        {
            var end = _writer.Write(group);
            if (end.Segment != _committed.Segment) _rolled.Writer.TryWrite(true);
            _committed = end;
            _probe.Succeeded();
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
        {
            _probe.Failed();
            LogNotWritten(ex, _folder);
            if (_writer.Abandon() is { } worse) LogNotWritten(worse, _folder);
            throw;
        }

        _listener?.Appended(group, _committed);
        _grown.Writer.TryWrite(true);
        return Task.CompletedTask;
    }

    [LoggerMessage(EventId = 4505, Level = LogLevel.Error, Message = "cannot write to {Folder}")]
    private partial void LogNotWritten(Exception exception, string folder);
}
