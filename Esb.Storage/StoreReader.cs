using Esb.Core.Audit;
using Esb.Core.Configuration;
using Esb.Core.Replays;
using Esb.Core.Storage;
using Esb.Storage.Files;
using Esb.Storage.Files.DeadLetters;
using Esb.Storage.Files.Index;
using Esb.Storage.Files.Parking;
using Esb.Storage.Postgres;
using Esb.Storage.Postgres.DeadLetters;
using Esb.Storage.Postgres.Parking;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace Esb.Storage;

/// <summary>The stores of a configuration, opened for reading without a host; also beside one that runs. Nothing is written, made or repaired.</summary>
public sealed class StoreReader : IAsyncDisposable
{
    private readonly Func<ValueTask> _close;

    private StoreReader(IAuditStore audit, IAuditEvidence? evidence, IDeadLetterStore deadLetters, IReplayJobStore replayJobs, IParkingStore parking, Func<ValueTask> close)
    {
        Audit = audit;
        Evidence = evidence;
        DeadLetters = deadLetters;
        ReplayJobs = replayJobs;
        Parking = parking;
        _close = close;
    }

    /// <summary>The audit facts; appending is refused.</summary>
    public IAuditStore Audit { get; }

    /// <summary>Whether the audit facts are as they were recorded; null where the store cannot tell.</summary>
    public IAuditEvidence? Evidence { get; }

    /// <summary>The dead letters; adding is refused.</summary>
    public IDeadLetterStore DeadLetters { get; }

    /// <summary>The replay jobs; changing them is refused.</summary>
    public IReplayJobStore ReplayJobs { get; }

    /// <summary>The parked messages; changing anything is refused.</summary>
    public IParkingStore Parking { get; }

    /// <summary>Opens the store that a configuration names. A folder that does not exist yet is an empty store.</summary>
    /// <param name="configuration">Read and found valid.</param>
    /// <param name="logger">Hears of damage; nobody where it is null.</param>
    public static StoreReader Open(EsbConfiguration configuration, ILogger? logger = null)
    {
        var store = configuration.Section<StoreConfig>("store");
        var evidence = AuditEvidenceConfig.Of(configuration);
        return store switch
        {
            FileStoreConfig files => Open(files, logger ?? NullLogger.Instance),
            PostgresStoreConfig postgres => Open(postgres, evidence, logger ?? NullLogger.Instance),
            _ => throw new InvalidOperationException($"{store.GetType().Name} is no store of ours."),
        };
    }

    /// <inheritdoc/>
    public ValueTask DisposeAsync() => _close();

    internal static StoreReader Open(FileStoreConfig config, ILogger logger)
    {
        var (audit, deadLetters) = FileStore.Folders(config);
        var index = new FileAuditIndex(audit, committed: null, logger);
        var log = new LetterLog(deadLetters, log: null, logger);
        var letters = new FileDeadLetterStore(log, TimeProvider.System);
        var parking = new FileParkingStore(FileStore.ParkingFolder(config), log: null, TimeProvider.System, logger);
        return new StoreReader(new FileAuditStore(index, log: null), evidence: null, letters, new FileReplayJobStore(log, letters, TimeProvider.System), parking, () =>
        {
            index.Dispose();
            log.Dispose();
            parking.Dispose();
            return ValueTask.CompletedTask;
        });
    }

    internal static StoreReader Open(PostgresStoreConfig config, AuditEvidenceConfig evidence, ILogger logger)
    {
        var database = new PostgresDatabase(config, readOnly: true, TimeProvider.System, logger);
        var audit = new PostgresAuditStore(database, spool: null, anchors: null);
        return new StoreReader(audit, new PostgresEvidence(database, evidence), new PostgresDeadLetterStore(database), new PostgresReplayJobStore(database), new PostgresParkingStore(database, TimeProvider.System), async () =>
        {
            await audit.DisposeAsync();
            await database.DisposeAsync();
        });
    }
}
