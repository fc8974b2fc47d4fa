using System.Runtime.CompilerServices;
using Esb.Core.Errors;
using Esb.Core.Storage;
using Esb.Storage.Encryption;
using Esb.Storage.Postgres.Audit;
using Esb.Storage.Sql;
using Microsoft.Extensions.Logging;
using Npgsql;

namespace Esb.Storage.Postgres;

/// <summary>The database of the store: its connections, and the state of its tables. Thread-safe.</summary>
internal sealed partial class PostgresDatabase : SqlDatabase, IAsyncDisposable
{
    private readonly NpgsqlDataSource _searches;
    private readonly PostgresSchema _schema;
    private readonly PostgresStoreConfig _config;
    private readonly string? _configuration;
    private readonly TimeSpan _claimRetention;
    private readonly bool _readOnly;
    private readonly ILogger _logger;
    private readonly Lock _gate = new();
    private Task? _preparing;
    private PostgresShare _own;

    /// <param name="config">The store.</param>
    /// <param name="readOnly">True to only read.</param>
    /// <param name="time">The clock.</param>
    /// <param name="logger">The logger.</param>
    /// <param name="configuration">The configuration that uses the database; null for its owner, whichever that is.</param>
    public PostgresDatabase(PostgresStoreConfig config, bool readOnly, TimeProvider time, ILogger logger, string? configuration = null)
        : base(PostgresDialect.Instance, BodyCipher.Of(config))
    {
        Clock = new PostgresClock(time, logger);
        Source = PostgresConnection.Pool(config, readOnly);
        _searches = PostgresConnection.SearchPool(config);
        Partitions = new PostgresPartitions(Source, Clock, "make_audit_day", "audit_event", "audit_field")
        {
            Companion = ("audit_erasure", "happened_until"),
            Counting = $"coalesce(sum({PostgresParts.Count}), 0)",
        };
        ClaimPartitions = new PostgresPartitions(Source, Clock, maker: null, "claim_check");
        _schema = new PostgresSchema(Source, config.Schema, logger);
        _own = PostgresShare.Of(Source, _searches, Clock);
        (_config, _configuration) = (config, configuration);
        _claimRetention = config.ClaimRetention;
        _readOnly = readOnly;
        Time = time;
        _logger = logger;
    }

    /// <summary>Connections to the tables that all configurations of the store share: facts and bodies.</summary>
    public NpgsqlDataSource Source { get; }

    /// <summary>The clock of this machine.</summary>
    public TimeProvider Time { get; }

    /// <summary>The clock that decides what is old.</summary>
    public PostgresClock Clock { get; }

    /// <summary>True if the days of its tables are created ahead and dropped: not by a command, whose role would own them.</summary>
    public bool MakesDays { get; init; } = true;

    /// <summary>True to read also tables of an earlier version of the program.</summary>
    public bool TakesEarlier { get; init; }

    /// <summary>The partitions of audit facts.</summary>
    public PostgresPartitions Partitions { get; }

    /// <summary>The partitions of bodies that travel as a reference.</summary>
    public PostgresPartitions ClaimPartitions { get; }

    /// <summary>True if the database has been reached and its tables exist.</summary>
    public bool IsReady => _preparing is { IsCompletedSuccessfully: true };

    /// <summary>Returns once the tables exist; connects to the database if that has not succeeded yet. Concurrent callers share one
    /// attempt.</summary>
    /// <exception cref="EsbException"><c>ESB-STORE-AWAY</c>; <c>ESB-STORE-VERSION</c>.</exception>
    public Task EnsureReadyAsync(CancellationToken cancellationToken)
    {
        lock (_gate)
        {
            if (_preparing is null or { IsFaulted: true } or { IsCanceled: true })
                _preparing = PrepareAsync();
            return _preparing.IsCompleted ? _preparing : _preparing.WaitAsync(cancellationToken);
        }
    }

    /// <summary>Creates the partitions of the coming days, and drops expired partitions of keys and bodies.</summary>
    public async Task MakePartitionsAsync(DateTimeOffset now, CancellationToken cancellationToken)
    {
        await Partitions.MakeAheadAsync(now, cancellationToken);
        await _own.KeyPartitions.MakeAheadAsync(now, cancellationToken);
        await ClaimPartitions.MakeAheadAsync(now, cancellationToken);
        await _own.KeyPartitions.DropBeforeAsync(now - IIdempotencyKeys.Window, beforeDrop: null, cancellationToken);
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

    /// <summary>Reads rows one by one: rows with bodies would not all fit into memory.</summary>
    /// <param name="sql">The query.</param>
    /// <param name="parameters">Its parameters.</param>
    /// <param name="cancellationToken">Ends it.</param>
    /// <param name="timeout">The longest silence of the server, zero for no limit; null for the default of the connection.</param>
    /// <exception cref="EsbException"><c>ESB-STORE-AWAY</c>; <c>ESB-STORE-VERSION</c>.</exception>
    public IAsyncEnumerable<T> QueryAsync<T>(
        string sql,
        object parameters,
        CancellationToken cancellationToken,
        TimeSpan? timeout = null
    ) => ReadAsync<T>(Source, sql, parameters, timeout, cancellationToken);

    /// <summary>The same over a few separate connections, with plans for each query: however many and long the searches and reports, the
    /// rest of the host finds a connection.</summary>
    /// <exception cref="EsbException"><c>ESB-STORE-AWAY</c>; <c>ESB-STORE-VERSION</c>.</exception>
    public IAsyncEnumerable<T> SearchAsync<T>(string sql, object parameters, CancellationToken cancellationToken) =>
        ReadAsync<T>(_searches, sql, parameters, timeout: null, cancellationToken);

    public override Task<T> ReadAsync<T>(Func<SqlSession, Task<T>> work, CancellationToken cancellationToken) =>
        WriteAsync(work, cancellationToken, isRepeatable: true);

    public override Task<T> WriteAsync<T>(Func<SqlSession, Task<T>> work, CancellationToken cancellationToken, bool isRepeatable = false) =>
        AskAsync(
            async () =>
            {
                await using var connection = await _own.Source.OpenConnectionAsync(cancellationToken);
                return await work(new SqlSession(connection, Dialect, cancellationToken));
            },
            isRepeatable,
            cancellationToken
        );

    public override Task<T> TransactAsync<T>(Func<SqlSession, Task<T>> work, CancellationToken cancellationToken) =>
        AskAsync(
            async () =>
            {
                await using var connection = await _own.Source.OpenConnectionAsync(cancellationToken);
                await using var transaction = await connection.BeginTransactionAsync(cancellationToken);
                var session = new SqlSession(connection, Dialect, cancellationToken);
                var result = await work(session);
                if (!session.IsGivenUp)
                    await transaction.CommitAsync(cancellationToken);
                return result;
            },
            isRepeatable: false,
            cancellationToken
        );

    public override async IAsyncEnumerable<T> SearchAsync<T>(
        string sql,
        IReadOnlyList<(string Name, object? Value)> parameters,
        Func<SqlRow, T> read,
        [EnumeratorCancellation] CancellationToken cancellationToken
    )
    {
        await EnsureReadyAsync(cancellationToken);
        await foreach (var row in PostgresRows.ReadAsync(_own.Searches, sql, parameters, read, cancellationToken))
            yield return row;
    }

    public override bool IsRefusal(Exception exception) => PostgresErrors.IsRefusal(exception);

    public async ValueTask DisposeAsync()
    {
        await _own.DisposeAsync();
        await Source.DisposeAsync();
        await _searches.DisposeAsync();
    }

    protected override Task<TimeSpan> AdvanceAsync(CancellationToken cancellationToken) =>
        RunAsync(connection => Clock.AdvanceAsync(connection, cancellationToken), cancellationToken);

    private async Task<T> AskAsync<T>(Func<Task<T>> ask, bool isRepeatable, CancellationToken cancellationToken)
    {
        await EnsureReadyAsync(cancellationToken);
        try
        {
            try
            {
                return await ask();
            }
            catch (NpgsqlException ex) when (isRepeatable && PostgresErrors.IsLostSession(ex))
            {
                _own.Source.Clear(); // the other sessions of the pool were lost with it
                return await ask();
            }
            catch (PostgresException ex) when (PostgresErrors.IsMissingPartition(ex))
            {
                _own.KeyPartitions.Forget(); // the host was suspended beyond the days created ahead
                await _own.KeyPartitions.MakeAheadAsync(Time.GetUtcNow(), cancellationToken);
                return await ask();
            }
        }
        catch (Exception ex) when (PostgresErrors.IsFailure(ex))
        {
            throw PostgresErrors.NotServed(ex);
        }
    }

    private async IAsyncEnumerable<T> ReadAsync<T>(
        NpgsqlDataSource source,
        string sql,
        object parameters,
        TimeSpan? timeout,
        [EnumeratorCancellation] CancellationToken cancellationToken
    )
    {
        await EnsureReadyAsync(cancellationToken);
        await foreach (var row in PostgresRows.ReadAsync<T>(source, sql, parameters, timeout, cancellationToken))
            yield return row;
    }

    // Without a caller's token: the attempt is shared. It is bounded by the time-outs of the connection and the limit of migrations.
    private async Task PrepareAsync()
    {
        try
        {
            if (_readOnly)
            {
                await _schema.CheckAsync(TakesEarlier, CancellationToken.None);
                await UseAsync(await _schema.FindOwnerAsync(CancellationToken.None));
                return;
            }

            await _schema.MigrateAsync(CancellationToken.None);
            if (_configuration is not null)
                await UseAsync(await _schema.OwnAsync(_configuration, CancellationToken.None));
            if (MakesDays)
                await TryMakePartitionsAsync();
        }
        catch (Exception ex) when (PostgresErrors.IsFailure(ex))
        {
            throw PostgresErrors.NotServed(ex);
        }

        LogReady();
    }

    // Tables of one configuration are in its own schema, unless it owns the schema of the store.
    private async Task UseAsync(string? owner)
    {
        if (owner is null || _configuration is null || owner == _configuration || _own.IsApart)
            return;
        var config = _config with { Schema = StoreShare.SchemaOf(_config.Schema, _configuration) };
        var source = PostgresConnection.Pool(config, _readOnly);
        try
        {
            var schema = new PostgresSchema(source, config.Schema, _logger);
            if (_readOnly)
                await schema.CheckAsync(TakesEarlier, CancellationToken.None);
            else
                await schema.MigrateAsync(CancellationToken.None);
            var user = _readOnly
                ? await schema.FindOwnerAsync(CancellationToken.None)
                : await schema.OwnAsync(_configuration, CancellationToken.None);
            if (user is not null && user != _configuration)
                throw new EsbException(
                    "ESB-STORE-OWNER",
                    $"The schema '{config.Schema}' belongs to the configuration '{user}', and '{_configuration}' needs it: give one "
                        + $"of them another store.schema.",
                    FaultKind.Internal
                );
        }
        catch
        {
            await source.DisposeAsync();
            throw;
        }

        _own = PostgresShare.Of(source, PostgresConnection.SearchPool(config), Clock) with { IsApart = true };
        LogShared(owner, _configuration, config.Schema);
    }

    // A reader of a table, such as a backup, blocks sessions that create or drop a day of it. Most days exist already, and a writer creates
    // a missing day.
    private async Task TryMakePartitionsAsync()
    {
        try
        {
            await MakePartitionsAsync(Time.GetUtcNow(), CancellationToken.None);
        }
        catch (PostgresException ex) when (ex.SqlState is PostgresErrorCodes.LockNotAvailable or PostgresErrorCodes.InsufficientPrivilege)
        {
            LogPartitions(PostgresErrors.Describe(ex));
        }
    }

    [LoggerMessage(
        EventId = 4533,
        Level = LogLevel.Warning,
        Message = "Not all days of the store's tables were made or dropped ({Reason}); it is tried again within the hour"
    )]
    private partial void LogPartitions(string reason);

    [LoggerMessage(
        EventId = 4534,
        Level = LogLevel.Information,
        Message = "The store belongs to the configuration {Owner}; dead letters, parked messages and everything else of "
            + "{Configuration} are in the schema {Schema}"
    )]
    private partial void LogShared(string owner, string configuration, string schema);

    [LoggerMessage(EventId = 4531, Level = LogLevel.Information, Message = "the store's database is ready")]
    private partial void LogReady();
}
