using Esb.Core;
using Esb.Core.Activities;
using Esb.Core.Audit;
using Esb.Core.Replays;
using Esb.Core.Storage;
using Esb.Storage.DeadLetters;
using Esb.Storage.Evidence;
using Esb.Storage.Files.Activities;
using Esb.Storage.Files.Claims;
using Esb.Storage.Files.DeadLetters;
using Esb.Storage.Files.Index;
using Esb.Storage.Files.Keys;
using Esb.Storage.Files.Parking;
using Esb.Storage.Segments;
using Microsoft.Extensions.Logging;

namespace Esb.Storage.Files;

/// <summary>The store that needs no server: a folder of segments for audit facts, and one each for dead letters, parked messages and the keys of requests.</summary>
internal sealed partial class FileStore : IStore
{
    private static readonly TimeSpan CleanInterval = TimeSpan.FromHours(1);

    private readonly ILogger _logger;
    private readonly Lazy<SegmentLog> _auditLog;
    private readonly Lazy<SegmentLog> _deadLetterLog;
    private readonly Lazy<SegmentLog> _parkingLog;
    private readonly Lazy<SegmentLog> _keyLog;
    private readonly Lazy<SegmentLog> _activityLog;
    private readonly FileAuditIndex _index;
    private readonly FileParkingStore _parking;
    private readonly LetterLog _letters;
    private readonly FileIdempotencyKeys _keys;
    private readonly FolderClaimCheckStore? _claims;
    private readonly TimeProvider _time;
    private readonly CancellationTokenSource _stopping = new();
    private Task _indexing = Task.CompletedTask;
    private Task _cleaning = Task.CompletedTask;

    public FileStore(FileStoreConfig config, TimeProvider time, ILogger<FileStore> logger)
        : this(config, SegmentOptions.Default, time, logger)
    {
    }

    internal FileStore(FileStoreConfig config, SegmentOptions options, TimeProvider time, ILogger<FileStore> logger)
    {
        _logger = logger;
        var (audit, deadLetters) = Folders(config);
        _time = time;
        _claims = config.Claims is { } claims ? new FolderClaimCheckStore(Path.GetFullPath(claims), config.ClaimRetention, time) : null;
        _auditLog = new(() => SegmentLog.Open(audit, options, logger));
        _deadLetterLog = new(() => SegmentLog.Open(deadLetters, options, logger));
        var keys = Path.Combine(Path.GetFullPath(config.Folder), "idempotency-keys");
        _keyLog = new(() => SegmentLog.Open(keys, options, logger));
        _keys = new FileIdempotencyKeys(keys, _keyLog, time, logger);
        var activities = Path.Combine(Path.GetFullPath(config.Folder), "activities");
        _activityLog = new(() => SegmentLog.Open(activities, options, logger));
        Activities = new FileActivityStore(activities, _activityLog, logger);
        _index = new FileAuditIndex(audit, () => _auditLog.Value.Committed, logger);
        var parking = ParkingFolder(config);
        _parkingLog = new(() => SegmentLog.Open(parking, options, logger));
        _parking = new FileParkingStore(parking, _parkingLog, time, logger);
        var attempts = Path.Combine(Path.GetFullPath(config.Folder), "attempts");
        (CrashMarks, Attempts) = (new FileCrashMarks(attempts, time), new FileAttemptStore(attempts, time));
        _letters = new LetterLog(deadLetters, _deadLetterLog, logger);
        var letters = new FileDeadLetterStore(_letters, time);
        (DeadLetters, ReplayJobs) = (letters, new FileReplayJobStore(_letters, letters, time));
        LetterRetention = new FileLetterRetention(_letters);
        var store = new FileAuditStore(_index, _auditLog);
        (Audit, Retention) = (store, store);
    }

    public BusStage Stage => BusStage.Stores;

    public string Name => "store";

    public IAuditStore Audit { get; }

    public IAuditRetention Retention { get; }

    public IAuditEraser Eraser { get; } = new NoEraser();

    public IDeadLetterStore DeadLetters { get; }

    public ILetterRetention LetterRetention { get; }

    public IReplayJobStore ReplayJobs { get; }

    public IParkingStore Parking => _parking;

    public ICrashMarks CrashMarks { get; }

    public IAttemptStore Attempts { get; }

    public IIdempotencyKeys IdempotencyKeys => _keys;

    public ILeaseStore Leases { get; } = new FileLeaseStore(TimeProvider.System);

    public IActivityStore Activities { get; }

    public IClaimCheckStore ClaimChecks => _claims is null ? new NoClaimCheckStore() : _claims;

    /// <summary>The folders of audit facts and of dead letters.</summary>
    public static (string Audit, string DeadLetters) Folders(FileStoreConfig config)
    {
        var folder = Path.GetFullPath(config.Folder);
        return (Path.Combine(folder, "audit"), Path.Combine(folder, "dead-letters"));
    }

    /// <summary>The folder of parked messages.</summary>
    public static string ParkingFolder(FileStoreConfig config) => Path.Combine(Path.GetFullPath(config.Folder), "parked");

    public Task StartAsync(CancellationToken cancellationToken)
    {
        _indexing = IndexAsync(_auditLog.Value);
        _ = _deadLetterLog.Value;
        if (_claims is not null) _cleaning = CleanAsync(_claims, _stopping.Token);
        _ = _parkingLog.Value;
        return Task.Run(_keys.Open, cancellationToken);
    }

    public async Task StopAsync(CancellationToken cancellationToken)
    {
        await _stopping.CancelAsync();
        await _cleaning;
        if (_auditLog.IsValueCreated) await _auditLog.Value.DisposeAsync();
        if (_deadLetterLog.IsValueCreated) await _deadLetterLog.Value.DisposeAsync();
        if (_parkingLog.IsValueCreated) await _parkingLog.Value.DisposeAsync();
        if (_keyLog.IsValueCreated) await _keyLog.Value.DisposeAsync();
        if (_activityLog.IsValueCreated) await _activityLog.Value.DisposeAsync();
        await _indexing;
    }

    public ValueTask<string?> CheckAsync(CancellationToken cancellationToken) =>
        ValueTask.FromResult(_auditLog.Value.Trouble ?? _deadLetterLog.Value.Trouble ?? _parkingLog.Value.Trouble ?? _keyLog.Value.Trouble);

    public async ValueTask DisposeAsync()
    {
        await StopAsync(CancellationToken.None);
        _index.Dispose();
        _parking.Dispose();
        _letters.Dispose();
    }

    private async Task CleanAsync(FolderClaimCheckStore claims, CancellationToken stopping)
    {
        try
        {
            while (true)
            {
                try
                {
                    claims.DeleteOld();
                }
                catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
                {
                    LogNotDeleted(ex);
                }

                await Task.Delay(CleanInterval, _time, stopping);
            }
        }
        catch (OperationCanceledException) when (stopping.IsCancellationRequested)
        {
            // Stopped.
        }
    }

    // A segment that has come to its end gets its index now, rather than when somebody asks.
    private async Task IndexAsync(SegmentLog log)
    {
        await foreach (var _ in log.Rolled.ReadAllAsync())
        {
            try
            {
                await _index.RefreshAsync(CancellationToken.None);
            }
            catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
            {
                LogNotIndexed(ex);
            }
        }
    }

    [LoggerMessage(EventId = 4519, Level = LogLevel.Warning, Message = "bodies whose time is over could not be deleted; tried again in an hour")]
    private partial void LogNotDeleted(Exception exception);

    [LoggerMessage(EventId = 4514, Level = LogLevel.Warning, Message = "the audit facts could not be indexed; the next search tries again")]
    private partial void LogNotIndexed(Exception exception);
}
