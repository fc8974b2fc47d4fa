using System.Threading.Channels;
using Microsoft.Extensions.Logging;

namespace Esb.Storage.Segments;

/// <summary>Appends records to the segments of a folder: one writes what many callers bring, while another flushes what was written.
/// Thread-safe.</summary>
/// <remarks>
/// The last segment is repaired when the folder is opened; one process writes to a folder at a time. A slow flush delays only those who
/// wait for it. What was written for callers that do not wait is kept in memory until it is flushed: where a flush fails, it is written
/// again, to a new segment.
/// </remarks>
internal sealed partial class SegmentLog : IAsyncDisposable, IThreadPoolWorkItem
{
    private const long MaxPendingBytes = 64 << 20;

    private static readonly TimeSpan RescueDelay = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan SettleInterval = TimeSpan.FromMilliseconds(2);

    private readonly string _folder;
    private readonly ILogger _logger;
    private readonly FolderLock _lock;
    private readonly SegmentWriter _writer;
    private readonly DiskProbe _probe;
    private readonly ISegmentListener? _listener;
    private readonly TimeSpan _flushDelay;
    private readonly Timer _flushTimer;
    private readonly Channel<bool> _grown = Channel.CreateBounded<bool>(
        new BoundedChannelOptions(1) { FullMode = BoundedChannelFullMode.DropWrite }
    );
    private readonly Channel<bool> _rolled = Channel.CreateBounded<bool>(
        new BoundedChannelOptions(1) { FullMode = BoundedChannelFullMode.DropWrite }
    );
    private readonly Lock _files = new(); // taken first if both are needed; held while records are written, not while they are flushed
    private readonly Lock _gate = new(); // guards all that follows, for moments
    private readonly Queue<SegmentBatch> _written = new();
    private SegmentBatch _filling = new();
    private SegmentBatch? _rescued;
    private long _pendingBytes;
    private int _awaited;
    private bool _isWriting;
    private bool _isFlushing;
    private bool _isFlushDue;
    private bool _isTimed;
    private bool _isClosed;
    private volatile SegmentPosition _committed;
    private volatile SegmentPosition _end;

    private SegmentLog(string folder, SegmentOptions options, ILogger logger, FolderLock folderLock, ISegmentListener? listener)
    {
        _folder = folder;
        _listener = listener;
        _logger = logger;
        _lock = folderLock;
        _flushDelay = options.FlushDelay;
        var recovery = new SegmentRecovery(folder, logger);
        _end = _committed = recovery.Run();
        Damages = recovery.Damages;
        _writer = new SegmentWriter(folder, _committed, options);
        _probe = new DiskProbe(folder);
        _flushTimer = new Timer(static log => ((SegmentLog)log!).FlushBehind(), this, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
    }

    /// <summary>The position behind the last flushed record.</summary>
    public SegmentPosition Committed => _committed;

    /// <summary>The position behind the last written record: readers of this machine see it, a power cut may take it back.</summary>
    public SegmentPosition Written => _end;

    /// <summary>The positions of damage that was reported when the folder was opened.</summary>
    public ISet<SegmentPosition> Damages { get; }

    /// <summary>Becomes readable after records were flushed.</summary>
    public ChannelReader<bool> Grown => _grown.Reader;

    /// <summary>Becomes readable after a segment was completed.</summary>
    public ChannelReader<bool> Rolled => _rolled.Reader;

    /// <summary>The reason why the log cannot be written; null if it can. After a failure the disk is probed from time to time, because
    /// there may be no other writes.</summary>
    public string? Trouble => _probe.FindTrouble();

    /// <param name="folder">The folder.</param>
    /// <param name="options">The options for writing.</param>
    /// <param name="logger">Logs damage.</param>
    /// <param name="listener">Receives every record; null for none.</param>
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
    public Task AppendAsync(ReadOnlyMemory<byte> payload, CancellationToken cancellationToken) =>
        AppendAsync(new SegmentEntry(payload), cancellationToken);

    /// <inheritdoc cref="AppendAsync(ReadOnlyMemory{byte}, CancellationToken)"/>
    public Task AppendAsync(SegmentEntry entry, CancellationToken cancellationToken) =>
        AppendAsync(entry, SegmentDurability.Flushed, cancellationToken);

    /// <summary>Appends a record.</summary>
    /// <param name="entry">The record.</param>
    /// <param name="durability">Its state when the call returns.</param>
    /// <param name="cancellationToken">Observed while there is no room, never after.</param>
    /// <exception cref="IOException">It could not be written.</exception>
    /// <exception cref="ChannelClosedException">The log is closed.</exception>
    public Task AppendAsync(SegmentEntry entry, SegmentDurability durability, CancellationToken cancellationToken)
    {
        lock (_gate)
        {
            if (TryAppend(entry, durability) is { } appended)
                return appended;
        }

        return AppendLaterAsync(entry with { Payload = entry.Payload.ToArray() }, durability, cancellationToken);
    }

    /// <summary>Writes and flushes what was appended, then closes the files.</summary>
    public async ValueTask DisposeAsync()
    {
        lock (_gate)
        {
            if (_isClosed)
                return;
            _isClosed = true;
        }

        await SettleAsync();
        await _flushTimer.DisposeAsync();
        if (_rescued is { } lost)
            LogLost(lost.Records.Count, _folder);
        lock (_files)
            _writer.Dispose();
        _grown.Writer.TryComplete();
        _rolled.Writer.TryComplete();
        _lock.Dispose();
    }

    /// <summary>Writes until nothing is left to write.</summary>
    void IThreadPoolWorkItem.Execute()
    {
        while (true)
        {
            SegmentBatch? batch = null;
            bool flushes;
            lock (_gate)
            {
                if (_filling.Length > 0)
                    (batch, _filling) = (_filling, new SegmentBatch());
                else
                    _isWriting = false;
                flushes = TryBeginFlush();
            }

            if (batch is null)
            {
                if (flushes)
                    FlushWanted(); // here: no other thread has to wake up for it
                return;
            }

            if (flushes)
                ThreadPool.UnsafeQueueUserWorkItem(static log => log.FlushWanted(), this, preferLocal: false);
            Write(batch);
        }
    }

    private bool IsFlushWanted => _isFlushDue || _awaited > 0;

    private Task? TryAppend(SegmentEntry entry, SegmentDurability durability)
    {
        if (_isClosed)
            return Task.FromException(new ChannelClosedException());
        if (!_filling.HasRoomFor(entry.Size))
            return null;
        if (_pendingBytes > 0 && _pendingBytes + entry.Size > MaxPendingBytes)
            return _rescued is null ? null : Task.FromException(new IOException("What was written before could not be flushed."));

        _filling.Add(entry, durability == SegmentDurability.Flushed);
        _pendingBytes += entry.Size;
        BeginWriting();
        return durability == SegmentDurability.Flushed ? _filling.Flushed : _filling.Written;
    }

    private void BeginWriting()
    {
        if (_isWriting)
            return;
        _isWriting = true;
        ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
    }

    private async Task AppendLaterAsync(SegmentEntry entry, SegmentDurability durability, CancellationToken cancellationToken)
    {
        while (true)
        {
            Task? appended;
            Task room;
            lock (_gate)
            {
                appended = TryAppend(entry, durability);
                room =
                    !_filling.HasRoomFor(entry.Size) ? _filling.Written
                    : _written.TryPeek(out var oldest) ? oldest.Flushed
                    : Task.Delay(SettleInterval, cancellationToken);
            }

            if (appended is not null)
            {
                await appended;
                return;
            }

            await room.WaitAsync(cancellationToken).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            cancellationToken.ThrowIfCancellationRequested();
        }
    }

    // Returns once all that was appended is flushed, or has failed.
    private async Task SettleAsync()
    {
        while (true)
        {
            bool flushes;
            lock (_gate)
            {
                if (!_isWriting && !_isFlushing && _written.Count == 0)
                    return;
                _isFlushDue = true;
                flushes = !_isWriting && TryBeginFlush();
            }

            if (flushes)
                await Task.Run(FlushWanted);
            else
                await Task.Delay(SettleInterval);
        }
    }

    private void Write(SegmentBatch batch)
    {
        try
        {
            lock (_files)
            {
                Rescue();
                Place(batch, _flushDelay);
            }

            batch.CompleteWrite();
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
        {
            _probe.Failed();
            LogNotWritten(ex, _folder);
            lock (_gate)
                _pendingBytes -= batch.Length;
            batch.Fail(ex);
        }
    }

    private void Place(SegmentBatch batch, TimeSpan flushDelay)
    {
        var segment = _end.Segment;
        batch.End = _writer.Write(batch.Bytes.Span);
        if (batch.End.Segment != segment)
            _rolled.Writer.TryWrite(true);
        _end = batch.End;
        _listener?.Written(batch.Records);
        lock (_gate)
        {
            _written.Enqueue(batch);
            if (batch.IsAwaited)
                _awaited++;
            else if (!_isFlushDue)
                TimeFlush(flushDelay);
        }
    }

    // What callers count on that do not wait: written again after a failed flush, as often as it takes.
    private void Rescue()
    {
        SegmentBatch? rescued;
        lock (_gate)
            rescued = _rescued;
        if (rescued is null)
            return;
        try
        {
            Place(rescued, RescueDelay);
            lock (_gate)
                _rescued = null;
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
        {
            _probe.Failed();
            LogNotWritten(ex, _folder);
            lock (_gate)
                TimeFlush(RescueDelay);
        }
    }

    private void TimeFlush(TimeSpan delay)
    {
        if (!_isTimed && !_isClosed)
            _isTimed = _flushTimer.Change(delay, Timeout.InfiniteTimeSpan);
    }

    private bool TryBeginFlush()
    {
        if (_isFlushing || !IsFlushWanted)
            return false;
        return _isFlushing = true;
    }

    private void FlushBehind()
    {
        lock (_gate)
        {
            _isTimed = false;
            _isFlushDue = true;
            if (!TryBeginFlush())
                return;
        }

        FlushWanted();
    }

    private void FlushWanted()
    {
        while (true)
        {
            Flush();
            lock (_gate)
            {
                if (IsFlushWanted)
                    continue;
                _isFlushing = false;
                return;
            }
        }
    }

    private void Flush()
    {
        int batches;
        SegmentWriter.Unflushed files;
        try
        {
            lock (_files)
            {
                Rescue();
                lock (_gate)
                {
                    batches = _written.Count;
                    _isFlushDue = false;
                }

                files = _writer.Files;
            }

            if (batches == 0)
                return;
            files.FlushToDisk();
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
        {
            lock (_files)
                Abandon(ex);
            return;
        }

        lock (_files)
            _writer.Close(files);
        _probe.Succeeded();
        for (var i = 0; i < batches; i++)
            Complete();
        _grown.Writer.TryWrite(true);
    }

    private void Complete()
    {
        SegmentBatch batch;
        lock (_gate)
        {
            batch = _written.Dequeue();
            _pendingBytes -= batch.Length;
            if (batch.IsAwaited)
                _awaited--;
        }

        _committed = batch.End;
        _listener?.Flushed(batch.Records, batch.End);
        batch.Complete();
    }

    private void Abandon(Exception failure)
    {
        _probe.Failed();
        LogNotWritten(failure, _folder);
        if (_writer.Abandon(_committed) is { } worse)
            LogNotWritten(worse, _folder);
        _end = _writer.Position;
        List<SegmentBatch> abandoned;
        var rescued = new SegmentBatch();
        lock (_gate)
        {
            abandoned = [.. _written];
            _written.Clear();
            (_awaited, _isFlushDue) = (0, false);
            if (_rescued is not null)
                abandoned.Insert(0, _rescued);
            foreach (var batch in abandoned)
            {
                rescued.Rescue(batch);
                _pendingBytes -= batch.Length;
            }

            _pendingBytes += rescued.Length;
            _rescued = rescued.Length > 0 ? rescued : null;
            if (_rescued is not null)
                TimeFlush(RescueDelay);
        }

        foreach (var batch in abandoned)
        {
            if (batch.End != SegmentPosition.Start)
                _listener?.Lost(batch.Records);
            batch.Fail(failure);
        }
    }

    [LoggerMessage(EventId = 4505, Level = LogLevel.Error, Message = "cannot write to {Folder}")]
    private partial void LogNotWritten(Exception exception, string folder);

    [LoggerMessage(
        EventId = 4506,
        Level = LogLevel.Error,
        Message = "{Count} records of answered exchanges could not be written to {Folder}, and are lost with this process"
    )]
    private partial void LogLost(int count, string folder);
}
