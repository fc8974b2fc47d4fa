using Esb.Core;
using Esb.Core.Activities;
using Esb.Core.Audit;
using Esb.Core.Errors;
using Esb.Core.Replays;
using Esb.Core.Storage;
using Esb.Storage.DeadLetters;
using Esb.Storage.Evidence;
using Esb.Storage.Postgres.Activities;
using Esb.Storage.Postgres.DeadLetters;
using Esb.Storage.Postgres.Parking;
using Esb.Storage.Spool;
using Microsoft.Extensions.Logging;

namespace Esb.Storage.Postgres;

/// <summary>The store in PostgreSQL. A database that is away keeps nothing from starting: facts wait in the spool, and the store goes on trying.</summary>
internal sealed partial class PostgresStore : IStore
{
    private static readonly TimeSpan StartLimit = TimeSpan.FromSeconds(30);
    private static readonly TimeSpan RetryInterval = TimeSpan.FromSeconds(5);
    private static readonly TimeSpan PartitionInterval = TimeSpan.FromHours(1);

    private readonly PostgresDatabase _database;
    private readonly PostgresAuditStore _audit;
    private readonly PostgresActivityStore _activities;
    private readonly AuditSpool _spool;
    private readonly TimeProvider _time;
    private readonly ILogger _logger;
    private readonly CancellationTokenSource _stopping = new();
    private Task _keeping = Task.CompletedTask;
    private bool _disposed;

    public PostgresStore(PostgresStoreConfig config, AuditEvidenceConfig evidence, TimeProvider time, ILogger<PostgresStore> logger)
    {
        _database = new PostgresDatabase(config, readOnly: false, time, logger);
        _spool = new AuditSpool(Path.Combine(Path.GetFullPath(config.Folder), "spool"), SpoolOptions.Of(config.SpoolSize.Bytes), time, logger);
        _audit = new PostgresAuditStore(_database, _spool, AnchorLog.TryOpen(evidence, time, logger));
        Eraser = new PostgresEraser(_database);
        _activities = new PostgresActivityStore(_database);
        _time = time;
        _logger = logger;
        DeadLetters = new PostgresDeadLetterStore(_database);
        Parking = new PostgresParkingStore(_database, time);
        CrashMarks = new PostgresCrashMarks(_database, time);
        Attempts = new PostgresAttemptStore(_database, time);
        LetterRetention = new PostgresLetterRetention(_database);
        ReplayJobs = new PostgresReplayJobStore(_database);
        IdempotencyKeys = new PostgresIdempotencyKeys(_database, time);
        Leases = new PostgresLeaseStore(_database);
        ClaimChecks = new PostgresClaimCheckStore(_database, time);
    }

    public BusStage Stage => BusStage.Stores;

    public string Name => "store";

    public IAuditStore Audit => _audit;

    public IAuditRetention Retention => _audit;

    public IAuditEraser Eraser { get; }

    public IDeadLetterStore DeadLetters { get; }

    public IParkingStore Parking { get; }

    public ICrashMarks CrashMarks { get; }

    public IAttemptStore Attempts { get; }

    public ILetterRetention LetterRetention { get; }

    public IReplayJobStore ReplayJobs { get; }

    public IIdempotencyKeys IdempotencyKeys { get; }

    public ILeaseStore Leases { get; }

    public IClaimCheckStore ClaimChecks { get; }

    public IActivityStore Activities => _activities;

    /// <exception cref="EsbException"><c>ESB-STORE-VERSION</c>: trying again would not help. <c>ESB-STORE-INUSE</c>: another host has the spool.</exception>
    public async Task StartAsync(CancellationToken cancellationToken)
    {
        _spool.Open();
        using var patience = new CancellationTokenSource(StartLimit, _time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(patience.Token, cancellationToken);
        try
        {
            await _database.EnsureReadyAsync(either.Token);
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            LogAway("its tables are being brought to this version"); // facts wait in the spool meanwhile
        }
        catch (EsbException ex) when (ex.IsTransient)
        {
            LogAway(PostgresErrors.Describe(ex));
        }

        _keeping = KeepAsync(_stopping.Token);
    }

    public async Task StopAsync(CancellationToken cancellationToken)
    {
        await _stopping.CancelAsync();
        await _keeping;
        await _activities.DisposeAsync();
        await _audit.DisposeAsync();
        await _spool.DisposeAsync();
    }

    // A database that is away stops no intake: facts wait in the spool, dead letters with the transport.
    public ValueTask<string?> CheckAsync(CancellationToken cancellationToken) => ValueTask.FromResult(_spool.Trouble);

    public async ValueTask DisposeAsync()
    {
        if (Interlocked.Exchange(ref _disposed, true)) return; // the container knows the store under several names
        await StopAsync(CancellationToken.None);
        await _database.DisposeAsync();
        _stopping.Dispose();
    }

    // Reaches the database as soon as it is there, and then has the partitions of the coming days ready.
    private async Task KeepAsync(CancellationToken cancellationToken)
    {
        while (!cancellationToken.IsCancellationRequested)
        {
            try
            {
                await Task.Delay(_database.IsReady ? PartitionInterval : RetryInterval, _time, cancellationToken);
                await _database.RunAsync(() => _database.MakePartitionsAsync(_time.GetUtcNow(), cancellationToken), cancellationToken);
            }
            catch (Exception) when (cancellationToken.IsCancellationRequested)
            {
                return;
            }
            catch (Exception ex)
            {
                LogAway(ex is EsbException known ? PostgresErrors.Describe(known) : ex.Message);
            }
        }
    }

    [LoggerMessage(EventId = 4532, Level = LogLevel.Warning, Message = "the store is not available, trying again: {Reason}")]
    private partial void LogAway(string reason);
}
