using Esb.Configuration;
using Esb.Core;
using Esb.Core.Audit;
using Esb.Core.Errors;
using Esb.Core.Storage;
using Esb.Storage.Encryption;
using Esb.Storage.Evidence;
using Esb.Storage.Files.Claims;
using Esb.Storage.Postgres.Audit;
using Esb.Storage.Postgres.Evidence;
using Esb.Storage.Spool;
using Microsoft.Extensions.Logging;

namespace Esb.Storage.Postgres;

/// <summary>The store in PostgreSQL. An unreachable database prevents nothing from starting: facts wait in the spool, and the store keeps
/// trying to connect.</summary>
internal sealed partial class PostgresStore : Store
{
    private static readonly TimeSpan StartLimit = TimeSpan.FromSeconds(30);
    private static readonly TimeSpan RetryInterval = TimeSpan.FromSeconds(5);
    private static readonly TimeSpan PartitionInterval = TimeSpan.FromHours(1);

    private readonly PostgresDatabase _database;
    private readonly PostgresAuditStore _audit;
    private readonly AuditSpool _spool;
    private readonly FolderClaimCheckStore? _claims;
    private readonly TimeProvider _time;
    private readonly ILogger _logger;
    private readonly CancellationTokenSource _stopping = new();
    private Task _keeping = Task.CompletedTask;
    private bool _disposed;

    /// <param name="config">The settings of the store.</param>
    /// <param name="evidence">The settings of its anchors.</param>
    /// <param name="time">The clock.</param>
    /// <param name="logger">The logger.</param>
    /// <param name="configuration">The configuration that uses the store; null for its owner, whichever that is.</param>
    public PostgresStore(
        PostgresStoreConfig config,
        AuditEvidenceConfig evidence,
        TimeProvider time,
        ILogger<PostgresStore> logger,
        string? configuration = null
    )
        : this(new PostgresDatabase(config, readOnly: false, time, logger, configuration), config, evidence, time, logger) { }

    private PostgresStore(
        PostgresDatabase database,
        PostgresStoreConfig config,
        AuditEvidenceConfig evidence,
        TimeProvider time,
        ILogger<PostgresStore> logger
    )
        : base(database, time)
    {
        _database = database;
        _spool = new AuditSpool(
            Path.Combine(Path.GetFullPath(config.Folder), "spool"),
            SpoolOptions.Of(config.SpoolSize.Bytes),
            time,
            logger
        );
        _audit = new PostgresAuditStore(_database, _spool, AnchorLog.TryOpen(evidence, time, logger));
        _time = time;
        _logger = logger;
        Eraser = new PostgresEraser(_database);
        Evidence = new PostgresEvidence(_database, evidence);
        var table = new PostgresClaimCheckStore(_database, time);
        _claims = config.Claims is { } claims ? new FolderClaimCheckStore(Path.GetFullPath(claims), config.ClaimRetention, time) : null;
        ClaimChecks = new SealedClaimChecks(_claims is null ? table : new MovedClaimChecks(_claims, table), database.Cipher);
        FarmKeys = new PostgresFarmKeys(_database);
    }

    public override IAuditStore Audit => _audit;

    public override IAuditRetention Retention => _audit;

    public override IAuditEraser Eraser { get; }

    public override IAuditEvidence Evidence { get; }

    public override IClaimCheckStore ClaimChecks { get; }

    public override IFarmKeyStore FarmKeys { get; }

    /// <exception cref="EsbException"><c>ESB-STORE-VERSION</c>: a retry would not help. <c>ESB-STORE-INUSE</c>: another host has the
    /// spool.</exception>
    public override async Task StartAsync(CancellationToken cancellationToken)
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

    public override async Task StopAsync(CancellationToken cancellationToken)
    {
        await _stopping.CancelAsync();
        await _keeping;
        await CompleteActivitiesAsync();
        await _audit.DisposeAsync();
        await _spool.DisposeAsync();
    }

    // An unreachable database does not stop intake: facts wait in the spool, dead letters in the transport.
    public override ValueTask<string?> CheckAsync(CancellationToken cancellationToken) => ValueTask.FromResult(_spool.Trouble);

    public override async ValueTask DisposeAsync()
    {
        if (Interlocked.Exchange(ref _disposed, true))
            return; // the container registers the store under several names
        await StopAsync(CancellationToken.None);
        await _database.DisposeAsync();
        _stopping.Dispose();
    }

    // Connects as soon as the database is reachable, then keeps the partitions of the coming days ready.
    private async Task KeepAsync(CancellationToken cancellationToken)
    {
        while (!cancellationToken.IsCancellationRequested)
        {
            try
            {
                await Task.Delay(_database.IsReady ? PartitionInterval : RetryInterval, _time, cancellationToken);
                await _database.RunAsync(() => _database.MakePartitionsAsync(_time.GetUtcNow(), cancellationToken), cancellationToken);
                _claims?.DeleteOld();
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
