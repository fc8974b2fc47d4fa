using System.Text.Json;
using Esb.Core.Audit;
using Esb.Storage.Files;
using Esb.Storage.Segments;
using Microsoft.Extensions.Logging;

namespace Esb.Storage.Spool;

/// <summary>Audit facts on their way to the database, in segments; the newest also in memory. Opened on first use.</summary>
internal sealed partial class AuditSpool : IAuditSpool, ISegmentListener, IAsyncDisposable
{
    private readonly string _folder;
    private readonly ILogger _logger;
    private readonly SpoolOptions _options;
    private readonly SpoolProgress _progress;
    private readonly SpoolTail _tail;
    private readonly SpoolSize _size;
    private readonly Lazy<SegmentLog> _log;
    private readonly SemaphoreSlim _opening = new(1);
    private readonly List<byte[]> _unreadable = []; // records among those peeked
    private SegmentLog? _refused;
    private SegmentPosition? _peeked;
    private long _peekedFacts;
    private long _length;
    private long _oldest; // ticks; 0 before the first look

    public AuditSpool(string folder, SpoolOptions options, TimeProvider time, ILogger logger)
    {
        (_folder, _options, _logger) = (folder, options, logger);
        _progress = new SpoolProgress(folder, time, logger);
        _tail = new SpoolTail(options.TailBytes);
        _size = new SpoolSize(folder, time);
        _log = new(OpenLog);
    }

    public long Length => _log.IsValueCreated ? Interlocked.Read(ref _length) : 0;

    public DateTimeOffset? Oldest =>
        Length > 0 && Interlocked.Read(ref _oldest) is > 0 and var ticks ? new DateTimeOffset(ticks, TimeSpan.Zero) : null;

    public long Bytes => _size.Bytes;

    public long MaxBytes => _options.MaxBytes;

    /// <summary>The reason why the spool cannot be written; null if it can.</summary>
    public string? Trouble => _log.Value.Trouble;

    /// <exception cref="Core.Errors.EsbException"><c>ESB-STORE-INUSE</c>: another process writes to the folder.</exception>
    public void Open() => _ = _log.Value;

    public Task AppendAsync(AuditFact fact, CancellationToken cancellationToken) =>
        AppendAsync([fact], AuditDurability.Flushed, cancellationToken);

    public Task AppendAsync(IReadOnlyList<AuditFact> facts, AuditDurability durability, CancellationToken cancellationToken)
    {
        var buffer = FactBuffer.Take();
        try
        {
            FactForm.Write(facts, buffer);
            var entry = new SegmentEntry(buffer.Bytes, facts);
            return _size.TryAdd(entry.Size, _options.MaxBytes)
                ? WriteAsync(_log.Value, entry, FactRecords.Of(durability), cancellationToken)
                : Task.FromException(StoreErrors.SpoolFull());
        }
        finally
        {
            buffer.Return(); // the log has its own copy
        }
    }

    public Task QuarantineAsync(AuditFact fact, CancellationToken cancellationToken) =>
        PutAsideAsync(StoredFact.Write(fact), cancellationToken);

    void ISegmentListener.Written(IReadOnlyList<BatchedRecord> group) => Interlocked.Add(ref _length, FactsIn(group));

    void ISegmentListener.Flushed(IReadOnlyList<BatchedRecord> group, SegmentPosition end) => _tail.Add(group, end);

    void ISegmentListener.Lost(IReadOnlyList<BatchedRecord> group) => Interlocked.Add(ref _length, -FactsIn(group));

    public async Task WaitAsync(CancellationToken cancellationToken)
    {
        var log = _log.Value; // facts left by an earlier process count
        while (Length == 0)
            await log.Grown.ReadAsync(cancellationToken);
    }

    public async Task<IReadOnlyList<AuditFact>> PeekAsync(int maximum, CancellationToken cancellationToken)
    {
        while (true)
        {
            var facts = Peek(maximum);
            if (facts.Count > 0 || _unreadable.Count > 0)
                return facts;
            await _log.Value.Grown.ReadAsync(cancellationToken);
        }
    }

    public async Task ForgetAsync(CancellationToken cancellationToken)
    {
        if (_unreadable.Count > 0)
            await PutUnreadableAsideAsync(cancellationToken);
        if (_peeked is { } position)
        {
            _progress.Advance(position);
            _tail.ForgetBefore(position);
        }

        if (Interlocked.Add(ref _length, -_peekedFacts) == 0)
            Interlocked.Exchange(ref _oldest, 0);
        (_peeked, _peekedFacts) = (null, 0);
    }

    public async ValueTask DisposeAsync()
    {
        if (_refused is { } refused)
            await refused.DisposeAsync();
        if (!_log.IsValueCreated)
            return;
        _progress.Save();
        await _log.Value.DisposeAsync();
    }

    // Puts unreadable records aside, because a later version can read them.
    private async Task PutUnreadableAsideAsync(CancellationToken cancellationToken)
    {
        await Task.WhenAll(_unreadable.Select(payload => PutAsideAsync(payload, cancellationToken)));
        LogUnreadable(_unreadable.Count);
        _unreadable.Clear();
    }

    private async Task PutAsideAsync(byte[] payload, CancellationToken cancellationToken) =>
        await WriteAsync(
            await OpenRefusedAsync(cancellationToken),
            new SegmentEntry(payload),
            SegmentDurability.Flushed,
            cancellationToken
        );

    // A failure is retried, unlike with Lazy. After an operator has deleted the files, a log that is still open would write to unlinked
    // files.
    private async Task<SegmentLog> OpenRefusedAsync(CancellationToken cancellationToken)
    {
        var folder = Path.Combine(_folder, "refused");
        await _opening.WaitAsync(cancellationToken);
        try
        {
            if (_refused is { Committed.Offset: > 0 } deleted && SegmentFile.List(folder).Count == 0)
            {
                _refused = null;
                await deleted.DisposeAsync();
            }

            return _refused ??= SegmentLog.Open(folder, _options.Segments, _logger);
        }
        finally
        {
            _opening.Release();
        }
    }

    private static long FactsIn(IReadOnlyList<BatchedRecord> group)
    {
        long count = 0;
        foreach (var record in group)
            count += ((IReadOnlyList<AuditFact>)record.Source!).Count;
        return count;
    }

    private static async Task WriteAsync(
        SegmentLog log,
        SegmentEntry entry,
        SegmentDurability durability,
        CancellationToken cancellationToken
    )
    {
        try
        {
            await log.AppendAsync(entry, durability, cancellationToken);
        }
        catch (Exception ex) when (StoreErrors.IsWriteFailure(ex))
        {
            throw StoreErrors.AuditNotWritten(ex);
        }
    }

    private SegmentLog OpenLog()
    {
        var log = SegmentLog.Open(_folder, _options.Segments, _logger, listener: this);
        _progress.Load(log.Committed);
        _tail.BeginAt(log.Committed);
        foreach (var record in NewReader(log).ReadNew())
            _length += StoredFact.Count(record.Payload);
        return log;
    }

    private List<AuditFact> Peek(int maximum)
    {
        var log = _log.Value;
        var facts = new List<AuditFact>();
        _unreadable.Clear();
        while (log.Committed != _progress.Position)
        {
            var room = new PeekRoom(maximum);
            if (_tail.TryPeek(_progress.Position, room, facts) is { } end)
                return Peeked(facts, end);
            var begin = _tail.Begin;
            var reader = NewReader(log);
            foreach (var record in reader.ReadNew())
            {
                if (TryParse(record) is not { } parsed)
                {
                    _unreadable.Add(record.Payload.ToArray());
                }
                else
                {
                    facts.AddRange(parsed);
                    foreach (var fact in parsed)
                        room.Take(fact);
                }

                if (room.IsFull || _unreadable.Count >= maximum)
                    break;
            }

            if (facts.Count > 0 || _unreadable.Count > 0)
                return Peeked(facts, reader.Position);
            RequireSegments(log);
            _progress.Advance(begin); // what lies there is damaged, now and later
        }

        return facts;
    }

    private List<AuditFact> Peeked(List<AuditFact> facts, SegmentPosition end)
    {
        (_peeked, _peekedFacts) = (end, facts.Count + _unreadable.Sum(payload => StoredFact.Count(payload)));
        if (facts.Count > 0)
            Interlocked.Exchange(ref _oldest, facts[0].Time.UtcTicks);
        return facts;
    }

    // The segment at the position is kept until the next one is begun: a folder without segments is not the folder written before.
    private void RequireSegments(SegmentLog log)
    {
        var isWritten = log.Committed.Offset > 0 || _progress.Position.Segment > 0;
        if (isWritten && SegmentFile.List(_folder).Count == 0)
            throw new IOException($"The segments of the audit spool are not in {_folder} any more; is its volume mounted?");
    }

    private SegmentReader NewReader(SegmentLog log) =>
        new(_folder, () => _tail.Begin, _logger, log.Damages) { Position = _progress.Position };

    // Null if a later version wrote the record before the host was downgraded to this one.
    private static IReadOnlyList<AuditFact>? TryParse(PlacedRecord record)
    {
        try
        {
            return StoredFact.Read(record.Payload);
        }
        catch (Exception ex) when (ex is InvalidDataException or JsonException)
        {
            return null;
        }
    }

    [LoggerMessage(
        EventId = 4521,
        Level = LogLevel.Error,
        Message = "{Count} records of the audit spool cannot be read by this version; they are put aside in the folder refused"
    )]
    private partial void LogUnreadable(int count);
}
