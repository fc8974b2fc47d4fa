using System.Data.Common;
using Esb.Core.Errors;

namespace Esb.Endpoints.Sql;

/// <summary>One database of the outside: a small pool of connections, which callers wait for in turn. Thread-safe.</summary>
/// <remarks>A connection for each of many instances would cost more than it gives: the server works on a few at once, whatever their number.</remarks>
internal sealed class Database(string name, IDatabaseProvider provider, DbDataSource source, int maxPoolSize) : IAsyncDisposable
{
    private readonly SemaphoreSlim _free = new(maxPoolSize);

    /// <summary>The client.</summary>
    public IDatabaseProvider Provider => provider;

    /// <summary>Works with a connection, once one is free.</summary>
    /// <param name="endpoint">Who works.</param>
    /// <param name="timeout">How long it may take, the wait included.</param>
    /// <param name="work">What is done with the open connection.</param>
    /// <param name="cancellationToken">Stops all of it, also on the server.</param>
    /// <exception cref="EndpointException"><c>ESB-SQL-POOL</c>: none became free. <c>ESB-SQL-TIMEOUT</c>: it took too long.</exception>
    public async Task<T> UseAsync<T>(string endpoint, TimeSpan timeout, Func<DbConnection, CancellationToken, Task<T>> work, CancellationToken cancellationToken)
    {
        using var limited = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        limited.CancelAfter(timeout);
        if (!_free.Wait(TimeSpan.Zero, CancellationToken.None)) await WaitAsync(endpoint, timeout, limited.Token, cancellationToken);
        try
        {
            await using var connection = await source.OpenConnectionAsync(limited.Token);
            return await work(connection, limited.Token);
        }
        catch (OperationCanceledException ex) when (!cancellationToken.IsCancellationRequested)
        {
            throw new EndpointException(endpoint, "ESB-SQL-TIMEOUT", $"The database did not answer within {timeout.TotalSeconds:0.###} s.", isTransient: true, ex, FaultKind.Timeout);
        }
        finally
        {
            _free.Release();
        }
    }

    public ValueTask DisposeAsync() => source.DisposeAsync();

    private async Task WaitAsync(string endpoint, TimeSpan timeout, CancellationToken limited, CancellationToken cancellationToken)
    {
        try
        {
            await _free.WaitAsync(limited);
        }
        catch (OperationCanceledException ex) when (!cancellationToken.IsCancellationRequested)
        {
            var sentence = $"All {maxPoolSize} connections of {name} were in use for {timeout.TotalSeconds:0.###} s.";
            throw new EndpointException(endpoint, "ESB-SQL-POOL", sentence, isTransient: true, ex, FaultKind.Unavailable);
        }
    }
}
