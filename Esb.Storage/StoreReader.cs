using Esb.Configuration;
using Esb.Core.Audit;
using Esb.Core.Replays;
using Esb.Core.Storage;
using Esb.Core.Workflows;
using Esb.Storage.Encryption;
using Esb.Storage.Files;
using Esb.Storage.Files.Index;
using Esb.Storage.Postgres;
using Esb.Storage.Postgres.Audit;
using Esb.Storage.Postgres.Evidence;
using Esb.Storage.Sql;
using Esb.Storage.Sql.DeadLetters;
using Esb.Storage.Sql.Parking;
using Esb.Storage.Sql.Workflows;
using Esb.Storage.Sqlite;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace Esb.Storage;

/// <summary>The stores of a configuration, opened for reading without a host; also beside one that runs. Nothing is written, made or
/// repaired.</summary>
public sealed class StoreReader : IAsyncDisposable
{
    private readonly Func<ValueTask> _close;

    private StoreReader(IAuditStore audit, IAuditEvidence? evidence, SqlDatabase database, Func<ValueTask> close)
    {
        Audit = audit;
        Evidence = evidence;
        DeadLetters = new DeadLetterStore(database);
        ConfigurationVersions = new ConfigurationVersions(database);
        ReplayJobs = new ReplayJobStore(database);
        Parking = new ParkingStore(database, TimeProvider.System);
        Workflows = new WorkflowStore(database);
        _close = close;
    }

    /// <summary>The audit facts; appending is refused.</summary>
    public IAuditStore Audit { get; }

    /// <summary>Whether the audit facts are as they were recorded; null where the store cannot tell.</summary>
    public IAuditEvidence? Evidence { get; }

    /// <summary>The dead letters; adding is refused.</summary>
    public IDeadLetterStore DeadLetters { get; }

    /// <summary>The versions of the configuration; proposing one is refused.</summary>
    public IConfigurationVersions ConfigurationVersions { get; }

    /// <summary>The replay jobs; changing them is refused.</summary>
    public IReplayJobStore ReplayJobs { get; }

    /// <summary>The parked messages; changing anything is refused.</summary>
    public IParkingStore Parking { get; }

    /// <summary>The instances of workflows and their definitions; changing them is refused.</summary>
    public IWorkflowStore Workflows { get; }

    /// <summary>Opens the store that a configuration names. A folder that does not exist yet is an empty store.</summary>
    /// <param name="store">The store.</param>
    /// <param name="configuration">The name of the configuration.</param>
    /// <param name="evidence">Where its anchors are.</param>
    /// <param name="services">What a bus is made of: knows the kinds of store.</param>
    /// <param name="takesEarlier">True to read also tables of an earlier version of the program, before an upgrade.</param>
    public static StoreReader Open(
        StoreConfig store,
        string configuration,
        AuditEvidenceConfig evidence,
        IServiceCollection services,
        bool takesEarlier = false
    ) =>
        StoreFactory
            .Of(store, services.Select(service => service.ImplementationInstance).OfType<StoreFactory>())
            .Read(store, new StoreReading(configuration, evidence, takesEarlier), NullLogger.Instance);

    /// <inheritdoc/>
    public ValueTask DisposeAsync() => _close();

    internal static StoreReader Open(FileStoreConfig config, ILogger logger, string? configuration = null, bool takesEarlier = false)
    {
        var folder = Path.GetFullPath(config.Folder);
        var index = new FileAuditIndex(FileStore.AuditFolder(folder), committed: null, logger);
        var database = SqliteDatabase.OfReader(folder, logger, configuration, BodyCipher.Of(config), takesEarlier);
        return new StoreReader(
            new FileAuditStore(index, log: null),
            evidence: null,
            database,
            async () =>
            {
                index.Dispose();
                await database.DisposeAsync();
            }
        );
    }

    internal static StoreReader Open(PostgresStoreConfig config, StoreReading reading, ILogger logger)
    {
        var database = new PostgresDatabase(config, readOnly: true, TimeProvider.System, logger, reading.Configuration)
        {
            TakesEarlier = reading.TakesEarlier,
        };
        var audit = new PostgresAuditStore(database, spool: null, anchors: null);
        return new StoreReader(
            audit,
            new PostgresEvidence(database, reading.Evidence),
            database,
            async () =>
            {
                await audit.DisposeAsync();
                await database.DisposeAsync();
            }
        );
    }
}
