using System.Data;
using Esb.Core.Processes;
using Esb.Endpoints.Sql.Outbox;

namespace Esb.Endpoints.Sql.Transactions;

/// <inheritdoc cref="ITransactions"/>
internal sealed class SqlTransactions(DatabaseConnections databases, OutboxTables outboxes, TimeProvider time) : ITransactions
{
    public async Task<IUnitOfWork> BeginAsync(string connection, TimeSpan timeout, CancellationToken cancellationToken)
    {
        var database = databases.Find(connection);
        await database.Tables.EnsureReadyAsync(cancellationToken);
        RentedConnection? rented = null;
        try
        {
            rented = await database.RentAsync(connection, timeout, cancellationToken);
            // Read committed: a transaction that waited for a copy of a message must then see the effect of the copy.
            var transaction = await rented.Connection.BeginTransactionAsync(IsolationLevel.ReadCommitted, cancellationToken);
            var mark = await database.Tables.Marks.SetAsync(rented.Connection, cancellationToken);
            var unitOfWork = new SqlUnitOfWork(
                database,
                rented,
                transaction,
                mark,
                new CommitVerdict(database, mark, time),
                outboxes.Of(connection)
            );
            rented = null;
            return unitOfWork;
        }
        catch (Exception ex) when (database.Explain(ex, []) is { } failure)
        {
            if (failure.Code == "ESB-SQL-INBOX")
                database.Tables.Forget();
            if (failure.NeedsNewConnections)
                database.Renew();
            throw failure.ToException(connection, ex);
        }
        finally
        {
            if (rented is not null)
                await rented.DisposeAsync();
        }
    }
}
