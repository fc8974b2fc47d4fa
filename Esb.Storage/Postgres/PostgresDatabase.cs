using System.Runtime.CompilerServices;
using Esb.Core.Errors;
using Esb.Core.Storage;
using Microsoft.Extensions.Logging;
using Npgsql;

namespace Esb.Storage.Postgres;

/// <summary>The database of the store: its connections, and whether its tables are there. Thread-safe.</summary>
internal sealed partial class PostgresDatabase : IAsyncDisposable
{
    // Made at first use: whatever the configuration says, it can be checked.
    private readonly Lazy<NpgsqlDataSource> _source;
    private readonly Lazy<NpgsqlDataSource> _searches;
    private readonly Lazy<PostgresPartitions> _partitions;
    private readonly Lazy<PostgresPartitions> _keyPartitions;
    private readonly Lazy<PostgresPartitions> _claimPartitions;
    private readonly Lazy<PostgresSchema> _schema;
    private readonly TimeSpan _claimRetention;
    private readonly bool _readOnly;
    private readonly TimeProvider _time;
    private readonly ILogger _logger;
    private readonly Lock _gate = new();
    private Task? _preparing;

    public PostgresDatabase(PostgresStoreConfig config, bool readOnly, TimeProvider time, ILogger logger)
    {
        Clock = new PostgresClock(time, logger);
        _source = new Lazy<NpgsqlDataSource>(() => NpgsqlDataSource.Create(PostgresConnection.With(config, readOnly)));
        _searches = new Lazy<NpgsqlDataSource>(() => NpgsqlDataSource.Create(PostgresConnection.WithSearches(config)));
        _partitions = new Lazy<PostgresPartitions>(() => new PostgresPartitions(Source, Clock, "make_audit_day", "audit_event", "audit_field") { Companion = ("audit_erasure", "happened_until") });
        _keyPartitions = new Lazy<PostgresPartitions>(() => new PostgresPartitions(Source, Clock, maker: null, "idempotency_key"));
        _claimPartitions = new Lazy<PostgresPartitions>(() => new PostgresPartitions(Source, Clock, maker: null, "claim_check"));
        _schema = new Lazy<PostgresSchema>(() => new PostgresSchema(Source, config.Schema, logger));
        _claimRetention = config.ClaimRetention;
        _readOnly = readOnly;
        _time = time;
        _logger = logger;
    }

    public NpgsqlDataSource Source => _source.Value;

    /// <summary>Decides what is old.</summary>
    public PostgresClock Clock { get; }

    /// <summary>Whether the days of its tables are made ahead and dropped: not by a command, whose role would own them.</summary>
    public bool MakesDays { get; init; } = true;

    /// <summary>Of audit facts.</summary>
    public PostgresPartitions Partitions => _partitions.Value;

    /// <summary>Of the keys of requests.</summary>
    public PostgresPartitions KeyPartitions => _keyPartitions.Value;

    /// <summary>Of bodies that travel as a reference.</summary>
    public PostgresPartitions ClaimPartitions => _claimPartitions.Value;

    /// <summary>Whether the database has been reached and its tables are there.</summary>
    public bool IsReady => _preparing is { IsCompletedSuccessfully: true };

    /// <summary>Returns once the tables are there; tries to reach the database when that has not succeeded yet. Callers at the same time share one attempt.</summary>
    /// <exception cref="EsbException"><c>ESB-STORE-AWAY</c>; <c>ESB-STORE-VERSION</c>.</exception>
    public Task EnsureReadyAsync(CancellationToken cancellationToken)
    {
        lock (_gate)
        {
            if (_preparing is null or { IsFaulted: true } or { IsCanceled: true }) _preparing = PrepareAsync();
            return _preparing.IsCompleted ? _preparing : _preparing.WaitAsync(cancellationToken);
        }
    }

    /// <summary>Makes the partitions of the coming days, and drops those of keys and bodies that are not needed any more.</summary>
    public async Task MakePartitionsAsync(DateTimeOffset now, CancellationToken cancellationToken)
    {
        await Partitions.MakeAheadAsync(now, cancellationToken);
        await KeyPartitions.MakeAheadAsync(now, cancellationToken);
        await ClaimPartitions.MakeAheadAsync(now, cancellationToken);
        await KeyPartitions.DropBeforeAsync(now - IIdempotencyKeys.Window, beforeDrop: null, cancellationToken);
        await ClaimPartitions.DropBeforeAsync(now - _claimRetention, beforeDrop: null, cancellationToken);
    }

    /// <summary>A connection to a database with our tables.</summary>
    /// <exception cref="EsbException"><c>ESB-STORE-AWAY</c>; <c>ESB-STORE-VERSION</c>.</exception>
    public async Task<NpgsqlConnection> OpenAsync(CancellationToken cancellationToken)
    {
        await EnsureReadyAsync(cancellationToken);
        try
        {
            return await Source.OpenConnectionAsync(cancellationToken);
        }
        catch (Exception ex) when (PostgresErrors.IsFailure(ex))
        {
            throw PostgresErrors.NotServed(ex);
        }
    }

    /// <summary>Works on a database with our tables.</summary>
    /// <exception cref="EsbException"><c>ESB-STORE-AWAY</c>; <c>ESB-STORE-VERSION</c>.</exception>
    public async Task RunAsync(Func<Task> work, CancellationToken cancellationToken)
    {
        await EnsureReadyAsync(cancellationToken);
        try
        {
            await work();
        }
        catch (Exception ex) when (PostgresErrors.IsFailure(ex))
        {
            throw PostgresErrors.NotServed(ex);
        }
    }

    /// <summary>Works on a connection to a database with our tables.</summary>
    /// <exception cref="EsbException"><c>ESB-STORE-AWAY</c>; <c>ESB-STORE-VERSION</c>.</exception>
    public async Task<T> RunAsync<T>(Func<NpgsqlConnection, Task<T>> work, CancellationToken cancellationToken)
    {
        await using var connection = await OpenAsync(cancellationToken);
        try
        {
            return await work(connection);
        }
        catch (Exception ex) when (PostgresErrors.IsFailure(ex))
        {
            throw PostgresErrors.NotServed(ex);
        }
    }

    /// <summary>Reads rows one after the other: those with bodies would not all fit into memory.</summary>
    /// <param name="sql">The query.</param>
    /// <param name="parameters">Its parameters.</param>
    /// <param name="cancellationToken">Ends it.</param>
    /// <param name="timeout">How long the server may be silent, zero for ever; null for what the connection says.</param>
    /// <exception cref="EsbException"><c>ESB-STORE-AWAY</c>; <c>ESB-STORE-VERSION</c>.</exception>
    public IAsyncEnumerable<T> QueryAsync<T>(string sql, object parameters, CancellationToken cancellationToken, TimeSpan? timeout = null) =>
        ReadAsync<T>(_source, sql, parameters, timeout, cancellationToken);

    /// <summary>The same over a few connections of their own, with plans for what is asked: however many search or report, and however long, the rest of the host finds a connection.</summary>
    /// <exception cref="EsbException"><c>ESB-STORE-AWAY</c>; <c>ESB-STORE-VERSION</c>.</exception>
    public IAsyncEnumerable<T> SearchAsync<T>(string sql, object parameters, CancellationToken cancellationToken) => ReadAsync<T>(_searches, sql, parameters, timeout: null, cancellationToken);

    public async ValueTask DisposeAsync()
    {
        if (_source.IsValueCreated) await Source.DisposeAsync();
        if (_searches.IsValueCreated) await _searches.Value.DisposeAsync();
    }

    private async IAsyncEnumerable<T> ReadAsync<T>(Lazy<NpgsqlDataSource> source, string sql, object parameters, TimeSpan? timeout, [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        await EnsureReadyAsync(cancellationToken);
        await foreach (var row in PostgresRows.ReadAsync<T>(source.Value, sql, parameters, timeout, cancellationToken)) yield return row;
    }

    // Not with a caller's token: the attempt is everybody's. The connection's time-outs bound it, and the limit of migrations.
    private async Task PrepareAsync()
    {
        try
        {
            if (_readOnly)
            {
                await _schema.Value.CheckAsync(CancellationToken.None);
                return;
            }

            await _schema.Value.MigrateAsync(CancellationToken.None);
            if (MakesDays) await TryMakePartitionsAsync();
        }
        catch (Exception ex) when (PostgresErrors.IsFailure(ex))
        {
            throw PostgresErrors.NotServed(ex);
        }

        LogReady();
    }

    // A reader of a table, such as a backup, holds up whoever makes or drops a day of it. Most days are there already, and who needs one that is not makes it.
    private async Task TryMakePartitionsAsync()
    {
        try
        {
            await MakePartitionsAsync(_time.GetUtcNow(), CancellationToken.None);
        }
        catch (PostgresException ex) when (ex.SqlState is PostgresErrorCodes.LockNotAvailable or PostgresErrorCodes.InsufficientPrivilege)
        {
            LogPartitions(PostgresErrors.Describe(ex));
        }
    }

    [LoggerMessage(EventId = 4533, Level = LogLevel.Warning, Message = "Not all days of the store's tables were made or dropped ({Reason}); it is tried again within the hour")]
    private partial void LogPartitions(string reason);

    [LoggerMessage(EventId = 4531, Level = LogLevel.Information, Message = "the store's database is ready")]
    private partial void LogReady();
}
