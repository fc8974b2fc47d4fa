using System.Data;
using System.Data.Common;
using Esb.Core.Errors;
using Esb.Core.Processes;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Endpoints.Sql.Outbox;
using Npgsql;

namespace Esb.Endpoints.Sql.Transactions;

/// <summary>A transaction of a database: the work of endpoints in it and, at its end, the messages that it publishes.</summary>
/// <param name="database">The database.</param>
/// <param name="rented">Its connection.</param>
/// <param name="transaction">The transaction, begun on the connection.</param>
/// <param name="mark">The mark that is in the database once the transaction is committed.</param>
/// <param name="verdict">Finds the outcome of a commit without an answer.</param>
/// <param name="outbox">Takes the messages to publish.</param>
internal sealed class SqlUnitOfWork(
    Database database,
    RentedConnection rented,
    DbTransaction transaction,
    Guid mark,
    CommitVerdict verdict,
    OutboxTable outbox
) : IUnitOfWork
{
    private static readonly TimeSpan CommitTime = TimeSpan.FromSeconds(30);

    private readonly List<OutgoingMessage> _messages = [];
    private int _calls;
    private EndpointException? _lost;
    private bool _isDisposed;

    public string Connection => database.Name;

    public void Publish(OutgoingMessage message) => _messages.Add(message);

    /// <summary>Guards the command of a call so that it can fail without the whole transaction; only then may a step catch the failure and
    /// continue.</summary>
    /// <remarks>The database may have completed a command whose answer is refused here, so its savepoint stays until the next call: one at
    /// a time, whatever the number of calls.</remarks>
    public DbBatch Guard(DbBatch batch)
    {
        batch.BatchCommands.Insert(0, Command(batch, $"savepoint {SavePointOf(_calls)}"));
        if (_calls > 1)
            batch.BatchCommands.Insert(0, Command(batch, $"release savepoint {SavePointOf(_calls - 1)}"));
        return batch;
    }

    /// <summary>Runs work on the connection of the transaction; its command is guarded.</summary>
    /// <exception cref="EndpointException"><c>ESB-SQL-TIMEOUT</c>.</exception>
    public async Task<T> UseAsync<T>(
        string endpoint,
        TimeSpan timeout,
        Func<DbConnection, CancellationToken, Task<T>> work,
        CancellationToken cancellationToken
    )
    {
        if (_lost is not null)
            throw _lost;
        _calls++;
        using var limited = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        limited.CancelAfter(Database.LimitOf(timeout));
        try
        {
            return await work(rented.Connection, limited.Token);
        }
        catch (OperationCanceledException ex) when (!cancellationToken.IsCancellationRequested)
        {
            await UndoCallAsync(ex);
            throw Database.TimedOut(endpoint, timeout, ex);
        }
        catch (Exception ex)
        {
            await UndoCallAsync(ex);
            if (_lost is not null && ex is InvalidOperationException)
                throw _lost;
            throw;
        }
    }

    public Task<byte[]?> FindResultAsync(Guid id, CancellationToken cancellationToken) =>
        UseTablesAsync(
            async (connection, limited) =>
            {
                await using var command = new NpgsqlCommand("select result from esb.transaction_result where id = $1", connection)
                {
                    Parameters = { new NpgsqlParameter<Guid> { TypedValue = id } },
                };
                return (byte[]?)await command.ExecuteScalarAsync(limited);
            },
            cancellationToken
        );

    public Task KeepResultAsync(Guid id, byte[] result, CancellationToken cancellationToken) =>
        UseTablesAsync(
            async (connection, limited) =>
            {
                await using var command = new NpgsqlCommand("insert into esb.transaction_result (id, result) values ($1, $2)", connection)
                {
                    Parameters =
                    {
                        new NpgsqlParameter<Guid> { TypedValue = id },
                        new NpgsqlParameter<byte[]> { TypedValue = result },
                    },
                };
                return await command.ExecuteNonQueryAsync(limited);
            },
            cancellationToken
        );

    public async Task CommitAsync(CancellationToken cancellationToken)
    {
        if (_lost is not null)
            throw _lost;
        cancellationToken.ThrowIfCancellationRequested();
        using var limited = new CancellationTokenSource(CommitTime); // the caller may disconnect; the commit still completes
        IReadOnlyCollection<short> lanes = [];
        try
        {
            if (_messages.Count > 0)
                lanes = await outbox.AddAsync(rented.Connection, _messages, limited.Token);
            await CommitOrAskAsync(limited.Token);
            database.Tables.Marks.Settle(mark);
        }
        catch (Exception ex) when (Explain(ex) is { } failure)
        {
            if (failure.Code == "ESB-SQL-INBOX")
                database.Tables.Forget();
            throw failure.ToException(Connection, ex);
        }
        catch (OperationCanceledException ex)
        {
            throw Database.TimedOut(Connection, CommitTime, ex);
        }

        if (lanes.Count > 0)
            outbox.Committed(lanes);
    }

    public async ValueTask DisposeAsync()
    {
        if (_isDisposed)
            return;
        _isDisposed = true;
        try
        {
            await transaction.DisposeAsync();
        }
        finally
        {
            await rented.DisposeAsync();
        }
    }

    private async Task<T> UseTablesAsync<T>(Func<NpgsqlConnection, CancellationToken, Task<T>> work, CancellationToken cancellationToken)
    {
        if (_lost is not null)
            throw _lost;
        using var limited = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        limited.CancelAfter(CommitTime);
        try
        {
            return await work((NpgsqlConnection)rented.Connection, limited.Token);
        }
        catch (Exception ex) when (Explain(ex) is { } failure)
        {
            if (failure.Code == "ESB-SQL-INBOX")
                database.Tables.Forget();
            throw failure.ToException(Connection, ex);
        }
        catch (OperationCanceledException ex) when (!cancellationToken.IsCancellationRequested)
        {
            throw Database.TimedOut(Connection, CommitTime, ex);
        }
    }

    private async Task CommitOrAskAsync(CancellationToken cancellationToken)
    {
        try
        {
            await transaction.CommitAsync(cancellationToken);
        }
        catch (Exception ex) when (verdict.IsUnknown(ex) || Explain(ex) is not null)
        {
            await DisposeAsync(); // frees the slot of the lost connection: all others may be asking as well
            await verdict.AskAsync(ex);
        }
    }

    // A connection that is lost between two commands is closed by its driver, which then complains of what its caller does.
    private DatabaseFailure? Explain(Exception cause) =>
        database.Explain(cause, [])
        ?? (cause is InvalidOperationException && rented.Connection.State != ConnectionState.Open ? PostgresFailures.Unreachable : null);

    // If the call cannot be undone by itself, the whole transaction is lost: so is its connection.
    private async Task UndoCallAsync(Exception cause)
    {
        try
        {
            await transaction.RollbackAsync(SavePointOf(_calls), CancellationToken.None);
        }
        catch (Exception ex) when (ex is InvalidOperationException || database.Provider.Explain(ex, []) is not null)
        {
            _lost =
                database.Explain(cause, [])?.ToException(Connection, cause)
                ?? new EndpointException(
                    Connection,
                    "ESB-SQL-CONNECTION",
                    "The connection of the transaction was lost.",
                    isTransient: true,
                    cause,
                    FaultKind.Unavailable
                )
                {
                    IsOutage = true,
                };
        }
    }

    // Alternating names: a call that ended before its own savepoint existed must not roll back to the savepoint of the previous, completed
    // call.
    private static string SavePointOf(int call) => int.IsEvenInteger(call) ? "esb_call_even" : "esb_call_odd";

    private static DbBatchCommand Command(DbBatch batch, string text)
    {
        var command = batch.CreateBatchCommand();
        command.CommandText = text;
        return command;
    }
}
