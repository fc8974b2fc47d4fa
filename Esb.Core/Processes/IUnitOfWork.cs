using Esb.Core.Topics;

namespace Esb.Core.Processes;

/// <summary>A database transaction of a process (patterns: Unit of Work, Transactional Outbox). Used by one step at a time; not
/// thread-safe.</summary>
/// <remarks>Disposal without a commit rolls it back.</remarks>
public interface IUnitOfWork : IAsyncDisposable
{
    /// <summary>The database, one of the connections.</summary>
    string Connection { get; }

    /// <summary>Adds a message that is published if, and only if, the transaction commits.</summary>
    void Publish(OutgoingMessage message);

    /// <summary>Returns the result that an earlier transaction kept under an id; null if none did within 7 days.</summary>
    /// <exception cref="Errors.EsbException">The database is unusable.</exception>
    Task<byte[]?> FindResultAsync(Guid id, CancellationToken cancellationToken);

    /// <summary>Keeps a result with the commit. Where another transaction keeps one under the same id, this one fails.</summary>
    /// <exception cref="Errors.EsbException">The database is unusable, or has one already.</exception>
    Task KeepResultAsync(Guid id, byte[] result, CancellationToken cancellationToken);

    /// <summary>Commits the transaction. If the connection is lost meanwhile, the database is queried for the outcome.</summary>
    /// <exception cref="Errors.EsbException">The transaction was not committed; or the outcome is unknown:
    /// <c>ESB-SQL-UNKNOWN</c>.</exception>
    Task CommitAsync(CancellationToken cancellationToken);
}

/// <summary>Determines at compile time which connections support transactions.</summary>
public interface ITransactionSupport
{
    /// <summary>Returns the reason why a connection supports no transactions that publish; null if it does, or if no connection of this
    /// name is configured. Opens none.</summary>
    /// <param name="connection">The name of a connection.</param>
    string? ObstacleOf(string connection);
}

/// <summary>Begins transactions. Thread-safe.</summary>
public interface ITransactions
{
    /// <summary>Begins a transaction.</summary>
    /// <param name="connection">Name of a configured connection.</param>
    /// <param name="timeout">Time to wait for a free connection.</param>
    /// <param name="cancellationToken">Cancels waiting.</param>
    /// <exception cref="Errors.EsbException"><c>ESB-SQL-CONNECTION</c>: the database is unreachable. <c>ESB-SQL-POOL</c>: no connection
    /// became free. <c>ESB-SQL-INBOX</c>: our tables cannot be created.</exception>
    Task<IUnitOfWork> BeginAsync(string connection, TimeSpan timeout, CancellationToken cancellationToken);
}
