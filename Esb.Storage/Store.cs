using Esb.Core;
using Esb.Core.Activities;
using Esb.Core.Audit;
using Esb.Core.Itineraries;
using Esb.Core.Replays;
using Esb.Core.Storage;
using Esb.Core.Workflows;
using Esb.Storage.DeadLetters;
using Esb.Storage.Encryption;
using Esb.Storage.Evidence;
using Esb.Storage.Sql;
using Esb.Storage.Sql.Activities;
using Esb.Storage.Sql.DeadLetters;
using Esb.Storage.Sql.Held;
using Esb.Storage.Sql.Itineraries;
using Esb.Storage.Sql.Outbox;
using Esb.Storage.Sql.Parking;
using Esb.Storage.Sql.Timers;
using Esb.Storage.Sql.Workflows;

namespace Esb.Storage;

/// <summary>
/// One kind of store: everything that is kept, in one place. What is in tables is written once for every kind of database.
/// </summary>
/// <param name="database">Where the tables are.</param>
/// <param name="time">The clock of this host.</param>
internal abstract class Store(SqlDatabase database, TimeProvider time) : IStorePart, IHealthCheck, IAsyncDisposable
{
    private readonly ActivityStore _activities = new(database);

    public BusStage Stage => BusStage.Stores;

    public string Name => "store";

    /// <summary>Where the tables are.</summary>
    internal SqlDatabase Tables { get; } = database;

    public abstract IAuditStore Audit { get; }

    public abstract IAuditRetention Retention { get; }

    public abstract IAuditEraser Eraser { get; }

    /// <summary>Whether recorded facts are as they were recorded.</summary>
    public virtual IAuditEvidence Evidence { get; } = new NoEvidence();

    public abstract IClaimCheckStore ClaimChecks { get; }

    public IDeadLetterStore DeadLetters { get; } = new DeadLetterStore(database);

    public ILetterRetention LetterRetention { get; } = new SqlLetterRetention(database);

    public IParkingStore Parking { get; } = new ParkingStore(database, time);

    public ICrashMarks CrashMarks { get; } = new CrashMarks(database, time);

    public IAttemptStore Attempts { get; } = new AttemptStore(database, time);

    public IEndpointMarks EndpointMarks { get; } = new EndpointMarks(database, time);

    public ITuningStore Tuning { get; } = new TuningStore(database);

    public IConfigurationVersions ConfigurationVersions { get; } = new ConfigurationVersions(database);

    public IReplayJobStore ReplayJobs { get; } = new ReplayJobStore(database);

    public IIdempotencyKeys IdempotencyKeys { get; } = new IdempotencyKeys(database, time);

    public IWorkflowStore Workflows { get; } = new WorkflowStore(database);

    public ITimerStore Timers { get; } = new TimerStore(database);

    public IOutboxStore Outbox { get; } = new OutboxStore(database);

    public IHeldMessages Held { get; } = new HeldMessages(database);

    public IItineraryRuns Itineraries { get; } = new ItineraryRuns(database);

    public ILeaseStore Leases { get; } = new LeaseStore(database);

    /// <summary>The key that hosts share by sharing this store.</summary>
    public virtual IFarmKeyStore FarmKeys { get; } = new NoFarmKeyStore();

    public IActivityStore Activities => _activities;

    public IBodyEncryption Encryption { get; } = new BodyEncryption(database);

    public abstract Task StartAsync(CancellationToken cancellationToken);

    public abstract Task StopAsync(CancellationToken cancellationToken);

    public abstract ValueTask<string?> CheckAsync(CancellationToken cancellationToken);

    public abstract ValueTask DisposeAsync();

    /// <summary>Records the activities that still wait; before the database is closed.</summary>
    protected ValueTask CompleteActivitiesAsync() => _activities.DisposeAsync();
}
