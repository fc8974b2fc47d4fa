using System.Text.Json;
using Esb.Core.Audit;
using Esb.Storage.Files;
using Esb.Storage.Segments;
using Microsoft.Extensions.Logging;

namespace Esb.Storage.Spool;

/// <summary>Audit facts on their way to the database, in segments. Opened by the first who uses it.</summary>
internal sealed partial class AuditSpool : IAuditSpool, IAsyncDisposable
{
    private readonly string _folder;
    private readonly ILogger _logger;
    private readonly SpoolProgress _progress;
    private readonly Lazy<SegmentLog> _log;
    private readonly Lazy<SegmentLog> _refused;
    private SegmentPosition? _peeked;
    private long _peekedFacts;
    private long _length;

    public AuditSpool(string folder, SegmentOptions options, TimeProvider time, ILogger logger)
    {
        _folder = folder;
        _logger = logger;
        _progress = new SpoolProgress(folder, time, logger);
        _log = new(() => Open(options));
        _refused = new(() => SegmentLog.Open(Path.Combine(folder, "refused"), options, logger));
    }

    public long Length => _log.IsValueCreated ? Interlocked.Read(ref _length) : 0;

    /// <summary>What stands in the way of writing; null when nothing does.</summary>
    public string? Trouble => _log.Value.Trouble;

    /// <exception cref="Core.Errors.EsbException"><c>ESB-STORE-INUSE</c>: another process writes to the folder.</exception>
    public void Open() => _ = _log.Value;

    public async Task AppendAsync(AuditFact fact, CancellationToken cancellationToken)
    {
        await AppendAsync(_log.Value, fact, cancellationToken);
        Interlocked.Increment(ref _length);
    }

    public Task QuarantineAsync(AuditFact fact, CancellationToken cancellationToken) => AppendAsync(_refused.Value, fact, cancellationToken);

    public async Task<IReadOnlyList<AuditFact>> PeekAsync(int maximum, CancellationToken cancellationToken)
    {
        while (true)
        {
            var facts = Read(maximum);
            if (facts.Count > 0) return facts;
            await _log.Value.Grown.ReadAsync(cancellationToken);
        }
    }

    public Task ForgetAsync(CancellationToken cancellationToken)
    {
        if (_peeked is { } position) _progress.Advance(position);
        Interlocked.Add(ref _length, -_peekedFacts);
        (_peeked, _peekedFacts) = (null, 0);
        return Task.CompletedTask;
    }

    public async ValueTask DisposeAsync()
    {
        if (_refused.IsValueCreated) await _refused.Value.DisposeAsync();
        if (!_log.IsValueCreated) return;
        _progress.Save();
        await _log.Value.DisposeAsync();
    }

    private static async Task AppendAsync(SegmentLog log, AuditFact fact, CancellationToken cancellationToken)
    {
        try
        {
            await log.AppendAsync(StoredFact.Write(fact), cancellationToken);
        }
        catch (Exception ex) when (StoreErrors.IsWriteFailure(ex))
        {
            throw StoreErrors.AuditNotWritten(ex);
        }
    }

    private SegmentLog Open(SegmentOptions options)
    {
        var log = SegmentLog.Open(_folder, options, _logger);
        _progress.Load(log.Committed);
        foreach (var record in NewReader(log).ReadNew()) _length += StoredItems.Count(record.Payload);
        return log;
    }

    private IReadOnlyList<AuditFact> Read(int maximum)
    {
        var facts = new List<AuditFact>();
        var reader = NewReader(_log.Value);
        foreach (var record in reader.ReadNew())
        {
            facts.AddRange(Parse(record));
            if (facts.Count >= maximum) break;
        }

        (_peeked, _peekedFacts) = (reader.Position, facts.Count);
        return facts;
    }

    private SegmentReader NewReader(SegmentLog log) => new(_folder, () => log.Committed, _logger) { Position = _progress.Position };

    private IReadOnlyList<AuditFact> Parse(PlacedRecord record)
    {
        try
        {
            return StoredFact.Read(record.Payload);
        }
        catch (Exception ex) when (ex is InvalidDataException or JsonException)
        {
            LogUnreadable(ex, record.Position);
            return [];
        }
    }

    [LoggerMessage(EventId = 4521, Level = LogLevel.Error, Message = "the spooled audit fact at {Position} cannot be read and is left behind")]
    private partial void LogUnreadable(Exception exception, SegmentPosition position);
}
