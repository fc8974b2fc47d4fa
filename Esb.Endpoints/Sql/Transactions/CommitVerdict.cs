using System.Data;
using System.Data.Common;
using Esb.Core.Errors;
using Npgsql;

namespace Esb.Endpoints.Sql.Transactions;

/// <summary>Asks a database, on another connection, if a transaction with an unanswered commit was committed.</summary>
/// <param name="database">The database.</param>
/// <param name="mark">The mark of the transaction in <see cref="CommitMarks"/>.</param>
/// <param name="time">The clock.</param>
internal sealed class CommitVerdict(Database database, Guid mark, TimeProvider time)
{
    // A restarting database is back within seconds; callers should not wait longer than this.
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(20);
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(250);

    /// <summary>True if a failed commit may still have taken effect: no answer arrived, or the server was ending the connection.</summary>
    public bool IsUnknown(Exception cause) =>
        cause is PostgresException refused
            ? PostgresFailures.IsEnd(refused)
            : cause is OperationCanceledException || database.Provider.Explain(cause, []) is not null;

    /// <summary>Returns if the transaction was committed.</summary>
    /// <exception cref="EndpointException"><c>ESB-SQL-CONNECTION</c>: it was not committed. <c>ESB-SQL-UNKNOWN</c>: the outcome is
    /// unknown.</exception>
    public async Task AskAsync(Exception cause)
    {
        var started = time.GetTimestamp();
        while (time.GetElapsedTime(started) < Patience)
        {
            switch (await TryAskAsync())
            {
                case true:
                    return;
                case false:
                    throw Failure(
                        "ESB-SQL-CONNECTION",
                        "The connection was lost before the transaction was committed; nothing of it happened.",
                        cause
                    );
                default:
                    await Task.Delay(Pause, time);
                    break;
            }
        }

        throw Failure(
            "ESB-SQL-UNKNOWN",
            "The connection was lost during the commit, and the database cannot be asked whether it took effect.",
            cause
        );
    }

    // Null if the database cannot be asked now, or if the server has not yet noticed the lost connection.
    private async Task<bool?> TryAskAsync()
    {
        try
        {
            return await database.UseAsync(database.Name, Patience, ReadAsync, CancellationToken.None);
        }
        catch (Exception ex) when (ex is EndpointException || database.Provider.Explain(ex, []) is not null)
        {
            return null;
        }
    }

    // Inserts the same mark and rolls back. Unlike a query, this waits for the transaction if it is still in progress.
    private async Task<bool?> ReadAsync(DbConnection connection, CancellationToken cancellationToken)
    {
        await using var transaction = await connection.BeginTransactionAsync(IsolationLevel.ReadCommitted, cancellationToken);
        await using var command = connection.CreateCommand();
        command.CommandText =
            $"set local lock_timeout = '1s'; insert into esb.transaction_mark (id) values ('{mark}') on conflict do nothing";
        return await command.ExecuteNonQueryAsync(cancellationToken) == 0;
    }

    private EndpointException Failure(string code, string sentence, Exception cause) =>
        new(database.Name, code, sentence, isTransient: true, cause, FaultKind.Unavailable);
}
