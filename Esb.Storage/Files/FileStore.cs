using Esb.Core.Audit;
using Esb.Core.Errors;
using Esb.Core.Storage;
using Esb.Storage.Encryption;
using Esb.Storage.Evidence;
using Esb.Storage.Files.Claims;
using Esb.Storage.Files.Index;
using Esb.Storage.Segments;
using Esb.Storage.Sql;
using Esb.Storage.Sqlite;
using Esb.Storage.TakeOver;
using Microsoft.Extensions.Logging;

namespace Esb.Storage.Files;

/// <summary>The store that needs no server: a folder with segments of audit facts, and a database for everything else.</summary>
internal sealed partial class FileStore : Store
{
    private static readonly TimeSpan CleanInterval = TimeSpan.FromHours(1);

    // This host is the only user of the folder: claims and leases held by its earlier processes are released.
    private const string BeginAnew = """
        update replay_job set owner = null, heard_at = null where owner is not null;
        update idempotency_key set held_until = 0 where status is null and held_until > 0;
        update lease set expires_at = 0 where expires_at > 0;
        update parked_key set leased_until = null where leased_until is not null
        """;

    private const string OldKeys =
        "delete from idempotency_key where rowid in (select rowid from idempotency_key where claimed_at < @before limit @limit)";

    private readonly string _folder;
    private readonly ILogger _logger;
    private readonly TimeProvider _time;
    private readonly SqliteDatabase _database;
    private readonly Lazy<SegmentLog> _auditLog;
    private readonly FileAuditIndex _index;
    private readonly FileAuditStore _audit;
    private readonly FolderClaimCheckStore? _claims;
    private readonly CancellationTokenSource _stopping = new();
    private Task _indexing = Task.CompletedTask;
    private Task _cleaning = Task.CompletedTask;
    private bool _stopped;

    /// <param name="config">The settings of the store.</param>
    /// <param name="time">The clock.</param>
    /// <param name="logger">The logger.</param>
    /// <param name="configuration">The configuration that uses the store; null for its owner, whichever that is.</param>
    public FileStore(FileStoreConfig config, TimeProvider time, ILogger<FileStore> logger, string? configuration = null)
        : this(config, SegmentOptions.Default, time, logger, configuration) { }

    internal FileStore(
        FileStoreConfig config,
        SegmentOptions options,
        TimeProvider time,
        ILogger<FileStore> logger,
        string? configuration = null
    )
        : this(
            SqliteDatabase.OfHost(Path.GetFullPath(config.Folder), time, logger, configuration, BodyCipher.Of(config)),
            config,
            options,
            time,
            logger
        ) { }

    private FileStore(SqliteDatabase database, FileStoreConfig config, SegmentOptions options, TimeProvider time, ILogger<FileStore> logger)
        : base(database, time)
    {
        _folder = Path.GetFullPath(config.Folder);
        (_database, _time, _logger) = (database, time, logger);
        _claims = config.Claims is { } claims ? new FolderClaimCheckStore(Path.GetFullPath(claims), config.ClaimRetention, time) : null;
        var audit = AuditFolder(_folder);
        _auditLog = new(() => SegmentLog.Open(audit, options, logger));
        _index = new FileAuditIndex(audit, () => _auditLog.Value.Written, logger);
        _audit = new FileAuditStore(_index, _auditLog);
    }

    public override IAuditStore Audit => _audit;

    public override IAuditRetention Retention => _audit;

    public override IAuditEraser Eraser { get; } = new NoEraser();

    public override IClaimCheckStore ClaimChecks =>
        _claims is null ? new NoClaimCheckStore() : new SealedClaimChecks(_claims, _database.Cipher);

    /// <summary>The folder of audit facts.</summary>
    public static string AuditFolder(string folder) => Path.Combine(folder, "audit");

    /// <exception cref="EsbException"><c>ESB-STORE-INUSE</c>, <c>ESB-STORE-FOLDER</c>, <c>ESB-STORE-VERSION</c>, <c>ESB-STORE-DAMAGED</c>:
    /// a retry would not help.</exception>
    public override Task StartAsync(CancellationToken cancellationToken) => Task.Run(() => OpenAsync(cancellationToken), cancellationToken);

    public override async Task StopAsync(CancellationToken cancellationToken)
    {
        if (Interlocked.Exchange(ref _stopped, true))
            return; // the container registers the store under several names
        await _stopping.CancelAsync();
        await _cleaning;
        await CompleteActivitiesAsync();
        await _database.DisposeAsync();
        if (_auditLog.IsValueCreated)
            await _auditLog.Value.DisposeAsync();
        await _indexing;
    }

    public override ValueTask<string?> CheckAsync(CancellationToken cancellationToken) =>
        ValueTask.FromResult(_auditLog.Value.Trouble ?? _database.Trouble);

    public override async ValueTask DisposeAsync()
    {
        await StopAsync(CancellationToken.None);
        _index.Dispose();
    }

    // The lock of the audit facts protects the whole folder, and is taken first: release 0.1 takes it, too.
    private async Task OpenAsync(CancellationToken cancellationToken)
    {
        MakeFolder();
        var log = _auditLog.Value;
        _database.Open();
        if (_database.IsOwner)
            await new EarlierFolder(_folder, _database, _time, _logger).TakeOverAsync(cancellationToken);
        else
            LogShared(_folder, _database.Path);
        await _database.ExecuteAsync(BeginAnew, cancellationToken);
        _indexing = IndexAsync(log);
        _cleaning = CleanAsync(_stopping.Token);
    }

    private void MakeFolder()
    {
        try
        {
            OwnerFolder.Make(_folder);
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
        {
            throw new EsbException("ESB-STORE-FOLDER", $"The folder '{_folder}' cannot be made: {ex.Message}", FaultKind.Internal);
        }
    }

    private async Task CleanAsync(CancellationToken stopping)
    {
        try
        {
            while (true)
            {
                try
                {
                    _claims?.DeleteOld();
                    await _database.DeleteAsync(OldKeys, _time.GetUtcNow() - IIdempotencyKeys.Window, stopping);
                    await _database.ShrinkAsync(stopping);
                }
                catch (Exception ex) when (ex is IOException or UnauthorizedAccessException or EsbException)
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

    // Indexes a completed segment at once, rather than at the first search.
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

    [LoggerMessage(
        EventId = 4535,
        Level = LogLevel.Information,
        Message = "The folder {Folder} belongs to another configuration; dead letters, parked messages and everything else of this "
            + "one are in {File}"
    )]
    private partial void LogShared(string folder, string file);

    [LoggerMessage(
        EventId = 4519,
        Level = LogLevel.Warning,
        Message = "Expired bodies and idempotency keys could not be deleted; trying again in an hour"
    )]
    private partial void LogNotDeleted(Exception exception);

    [LoggerMessage(EventId = 4514, Level = LogLevel.Warning, Message = "the audit facts could not be indexed; the next search tries again")]
    private partial void LogNotIndexed(Exception exception);
}
