using Esb.Core.Topics;

namespace Esb.Core.Processes;

/// <summary>A transaction of one database that a process is in (patterns: Unit of Work, Transactional Outbox). Used by one step at a time; not thread-safe.</summary>
/// <remarks>Disposing it without a commit undoes all that it holds.</remarks>
public interface IUnitOfWork : IAsyncDisposable
{
    /// <summary>The database, one of the connections.</summary>
    string Connection { get; }

    /// <summary>Takes a message that is published if, and only if, the transaction is committed.</summary>
    void Publish(OutgoingMessage message);

    /// <summary>Makes it all durable. When the connection is lost meanwhile, the database is asked afterwards what became of it.</summary>
    /// <exception cref="Errors.EsbException">It was not committed; or nobody can tell: <c>ESB-SQL-UNKNOWN</c>.</exception>
    Task CommitAsync(CancellationToken cancellationToken);
}

/// <summary>Knows while a configuration is compiled which connections can have transactions.</summary>
public interface ITransactionSupport
{
    /// <summary>Why a connection can have no transactions that publish; null where it can, or where no connection of this name is
    /// configured. Opens none.</summary>
    /// <param name="connection">The name of a connection.</param>
    string? ObstacleOf(string connection);
}

/// <summary>Begins transactions. Thread-safe.</summary>
public interface ITransactions
{
    /// <summary>Begins a transaction.</summary>
    /// <param name="connection">The name of a connection that is configured.</param>
    /// <param name="timeout">How long to wait for a free connection.</param>
    /// <param name="cancellationToken">Stops waiting.</param>
    /// <exception cref="Errors.EsbException"><c>ESB-SQL-CONNECTION</c>: the database is away. <c>ESB-SQL-POOL</c>: no connection became free. <c>ESB-SQL-INBOX</c>: our tables cannot be made.</exception>
    Task<IUnitOfWork> BeginAsync(string connection, TimeSpan timeout, CancellationToken cancellationToken);
}
