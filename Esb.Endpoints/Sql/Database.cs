using System.Data.Common;
using Esb.Core.Errors;
using Esb.Core.Storage;
using Esb.Endpoints.Sql.Tables;

namespace Esb.Endpoints.Sql;

/// <summary>One external database: a small pool of connections, for which callers wait in turn. Thread-safe.</summary>
/// <remarks>One connection per instance would cost more than it gains: the server processes only a few at once.</remarks>
internal sealed class Database : IAsyncDisposable
{
    private readonly DbDataSource _source;
    private readonly SemaphoreSlim _free;

    public Database(string name, IDatabaseProvider provider, DbDataSource source, int maxPoolSize)
    {
        Name = name;
        Provider = provider;
        MaxPoolSize = maxPoolSize;
        Tables = new BusTables(this);
        _source = source;
        Place = PlaceOf(source);
        _free = new SemaphoreSlim(maxPoolSize);
    }

    /// <summary>The name in the configuration.</summary>
    public string Name { get; }

    /// <summary>Host and port, for operators.</summary>
    public string Place { get; }

    /// <summary>The database client.</summary>
    public IDatabaseProvider Provider { get; }

    /// <summary>The maximum number of connections.</summary>
    public int MaxPoolSize { get; }

    /// <summary>The connections that callers have now.</summary>
    public int InUse => MaxPoolSize - _free.CurrentCount;

    /// <summary>The bus's own tables in the database.</summary>
    public BusTables Tables { get; }

    /// <summary>Maps an exception of the client to a failure, with the address of the database where it was not reached; null for other
    /// exceptions.</summary>
    /// <param name="cause">The exception.</param>
    /// <param name="parameters">The names of the parameters, in order.</param>
    public DatabaseFailure? Explain(Exception cause, IReadOnlyList<string> parameters) =>
        Provider.Explain(cause, parameters) is { } failure
            ? failure with
            {
                Detail = failure.IsOutage ? DescribePlace(cause) : null,
            }
            : null;

    /// <summary>Runs work on a connection, once one is free.</summary>
    /// <param name="endpoint">The endpoint that does the work.</param>
    /// <param name="timeout">The maximum duration, including the wait.</param>
    /// <param name="work">The work on the open connection.</param>
    /// <param name="cancellationToken">Cancels all of it, also on the server.</param>
    /// <exception cref="EndpointException"><c>ESB-SQL-POOL</c>: no connection became free. <c>ESB-SQL-TIMEOUT</c>: it took too
    /// long.</exception>
    public async Task<T> UseAsync<T>(
        string endpoint,
        TimeSpan timeout,
        Func<DbConnection, CancellationToken, Task<T>> work,
        CancellationToken cancellationToken
    )
    {
        using var limited = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        limited.CancelAfter(LimitOf(timeout));
        try
        {
            await using var rented = await RentAsync(endpoint, timeout, limited.Token, cancellationToken);
            return await work(rented.Connection, limited.Token);
        }
        catch (OperationCanceledException ex) when (!cancellationToken.IsCancellationRequested)
        {
            throw TimedOut(endpoint, timeout, ex);
        }
        catch (Exception ex) when (Provider.Explain(ex, []) is { NeedsNewConnections: true })
        {
            Renew();
            throw;
        }
    }

    /// <summary>Waits for a connection, opens it and hands it to the caller.</summary>
    /// <param name="endpoint">The endpoint that does the work.</param>
    /// <param name="timeout">The maximum duration.</param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    /// <exception cref="EndpointException"><c>ESB-SQL-POOL</c>: no connection became free. <c>ESB-SQL-TIMEOUT</c>: it could not be opened
    /// in time.</exception>
    public async Task<RentedConnection> RentAsync(string endpoint, TimeSpan timeout, CancellationToken cancellationToken)
    {
        using var limited = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        limited.CancelAfter(timeout);
        try
        {
            return await RentAsync(endpoint, timeout, limited.Token, cancellationToken);
        }
        catch (OperationCanceledException ex) when (!cancellationToken.IsCancellationRequested)
        {
            throw TimedOut(endpoint, timeout, ex);
        }
    }

    /// <summary>Replaces the connections: open ones are closed, at once or when they are returned.</summary>
    public void Renew() => Provider.Close(_source);

    public ValueTask DisposeAsync() => _source.DisposeAsync();

    /// <summary>The limit of work with a time-out: slightly shorter, to leave time to report the cause and to cancel the work on the
    /// server.</summary>
    public static TimeSpan LimitOf(TimeSpan timeout) => timeout - TimeSpan.FromTicks(Math.Min(timeout.Ticks / 10, TimeSpan.TicksPerSecond));

    /// <summary>The failure of work that timed out.</summary>
    public static EndpointException TimedOut(string endpoint, TimeSpan timeout, Exception cause) =>
        new(
            endpoint,
            "ESB-SQL-TIMEOUT",
            $"The database did not answer within {timeout.TotalSeconds:0.###} s.",
            isTransient: true,
            cause,
            FaultKind.Timeout
        )
        {
            IsUnanswered = true,
        };

    // A cause with a state was told by the database itself, so it was reached.
    private string DescribePlace(Exception cause) =>
        cause is DbException { SqlState: not null } ? $"At {Place}." : ConnectionTrouble.Describe(Place, cause);

    // The parts that name no user and no password.
    private static string PlaceOf(DbDataSource source)
    {
        var parts = new DbConnectionStringBuilder { ConnectionString = source.ConnectionString };
        var host = parts.TryGetValue("Host", out var name) || parts.TryGetValue("Server", out name) ? $"{name}" : "the database";
        return parts.TryGetValue("Port", out var port) ? $"{host}:{port}" : host;
    }

    private async Task<RentedConnection> RentAsync(
        string endpoint,
        TimeSpan timeout,
        CancellationToken limited,
        CancellationToken cancellationToken
    )
    {
        if (!_free.Wait(TimeSpan.Zero, CancellationToken.None))
            await WaitAsync(endpoint, timeout, limited, cancellationToken);
        try
        {
            return new RentedConnection(await _source.OpenConnectionAsync(limited), _free);
        }
        catch
        {
            _free.Release();
            throw;
        }
    }

    private async Task WaitAsync(string endpoint, TimeSpan timeout, CancellationToken limited, CancellationToken cancellationToken)
    {
        try
        {
            await _free.WaitAsync(limited);
        }
        catch (OperationCanceledException ex) when (!cancellationToken.IsCancellationRequested)
        {
            var sentence = $"All {MaxPoolSize} connections of {Name} were in use for {timeout.TotalSeconds:0.###} s.";
            throw new EndpointException(endpoint, "ESB-SQL-POOL", sentence, isTransient: true, ex, FaultKind.Unavailable)
            {
                IsUnanswered = true,
            }; // their users wait for the database
        }
    }
}

/// <summary>An open connection that returns to its pool when it is disposed. Uncommitted work of its transaction is rolled back.</summary>
internal sealed class RentedConnection(DbConnection connection, SemaphoreSlim free) : IAsyncDisposable
{
    public DbConnection Connection => connection;

    public async ValueTask DisposeAsync()
    {
        try
        {
            await connection.DisposeAsync();
        }
        finally
        {
            free.Release();
        }
    }
}
