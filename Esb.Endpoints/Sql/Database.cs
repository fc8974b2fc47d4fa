using System.Data.Common;
using Esb.Core.Errors;
using Esb.Endpoints.Sql.Tables;

namespace Esb.Endpoints.Sql;

/// <summary>One database of the outside: a small pool of connections, which callers wait for in turn. Thread-safe.</summary>
/// <remarks>A connection for each of many instances would cost more than it gives: the server works on a few at once, whatever their number.</remarks>
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
        _free = new SemaphoreSlim(maxPoolSize);
    }

    /// <summary>The name in the configuration.</summary>
    public string Name { get; }

    /// <summary>The client.</summary>
    public IDatabaseProvider Provider { get; }

    /// <summary>The most connections.</summary>
    public int MaxPoolSize { get; }

    /// <summary>Our own tables in it.</summary>
    public BusTables Tables { get; }

    /// <summary>Works with a connection, once one is free.</summary>
    /// <param name="endpoint">Who works.</param>
    /// <param name="timeout">How long it may take, the wait included.</param>
    /// <param name="work">What is done with the open connection.</param>
    /// <param name="cancellationToken">Stops all of it, also on the server.</param>
    /// <exception cref="EndpointException"><c>ESB-SQL-POOL</c>: none became free. <c>ESB-SQL-TIMEOUT</c>: it took too long.</exception>
    public async Task<T> UseAsync<T>(string endpoint, TimeSpan timeout, Func<DbConnection, CancellationToken, Task<T>> work, CancellationToken cancellationToken)
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

    /// <summary>Waits for a connection, opens it, and leaves it to the caller.</summary>
    /// <param name="endpoint">Who works.</param>
    /// <param name="timeout">How long it may take.</param>
    /// <param name="cancellationToken">Stops waiting.</param>
    /// <exception cref="EndpointException"><c>ESB-SQL-POOL</c>: none became free. <c>ESB-SQL-TIMEOUT</c>: it could not be opened in time.</exception>
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

    /// <summary>Goes on with new connections: those that are open now are closed, at once or when they come back.</summary>
    public void Renew() => Provider.Close(_source);

    public ValueTask DisposeAsync() => _source.DisposeAsync();

    /// <summary>When to give up work that has a time-out: a little earlier, so that there is time to say what took so long, and to cancel it on the server.</summary>
    public static TimeSpan LimitOf(TimeSpan timeout) => timeout - TimeSpan.FromTicks(Math.Min(timeout.Ticks / 10, TimeSpan.TicksPerSecond));

    /// <summary>The failure of work that took too long.</summary>
    public static EndpointException TimedOut(string endpoint, TimeSpan timeout, Exception cause) =>
        new(endpoint, "ESB-SQL-TIMEOUT", $"The database did not answer within {timeout.TotalSeconds:0.###} s.", isTransient: true, cause, FaultKind.Timeout) { IsUnanswered = true };

    private async Task<RentedConnection> RentAsync(string endpoint, TimeSpan timeout, CancellationToken limited, CancellationToken cancellationToken)
    {
        if (!_free.Wait(TimeSpan.Zero, CancellationToken.None)) await WaitAsync(endpoint, timeout, limited, cancellationToken);
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
            throw new EndpointException(endpoint, "ESB-SQL-POOL", sentence, isTransient: true, ex, FaultKind.Unavailable) { IsUnanswered = true }; // whoever has them waits for the database
        }
    }
}

/// <summary>An open connection that goes back to its pool when it is disposed. What a transaction on it did and did not commit is undone.</summary>
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
