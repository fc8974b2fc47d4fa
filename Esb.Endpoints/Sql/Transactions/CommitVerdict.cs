using System.Data;
using System.Data.Common;
using Esb.Core.Errors;
using Npgsql;

namespace Esb.Endpoints.Sql.Transactions;

/// <summary>Asks a database on another connection whether a transaction was committed whose commit nobody answered.</summary>
/// <param name="database">The database.</param>
/// <param name="mark">What the transaction has put into <see cref="CommitMarks"/>.</param>
/// <param name="time">The time.</param>
internal sealed class CommitVerdict(Database database, Guid mark, TimeProvider time)
{
    // A database that restarts is back within seconds; longer than this no caller waits gladly.
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(20);
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(250);

    /// <summary>Whether a failed commit may have taken effect all the same: there was no answer, or one of a server that was ending the connection.</summary>
    public bool IsUnknown(Exception cause) =>
        cause is PostgresException refused ? PostgresFailures.IsEnd(refused) : cause is OperationCanceledException || database.Provider.Explain(cause, []) is not null;

    /// <summary>Returns when the transaction was committed.</summary>
    /// <exception cref="EndpointException">It was not: <c>ESB-SQL-CONNECTION</c>. Nobody can tell: <c>ESB-SQL-UNKNOWN</c>.</exception>
    public async Task AskAsync(Exception cause)
    {
        var started = time.GetTimestamp();
        while (time.GetElapsedTime(started) < Patience)
        {
            switch (await TryAskAsync())
            {
                case true: return;
                case false: throw Failure("ESB-SQL-CONNECTION", "The connection was lost before the transaction was committed; nothing of it happened.", cause);
                default: await Task.Delay(Pause, time); break;
            }
        }

        throw Failure("ESB-SQL-UNKNOWN", "The connection was lost during the commit, and the database cannot be asked whether it took effect.", cause);
    }

    // Null: it cannot be asked now, or the server has not noticed yet that we are gone.
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

    // Tries to set the same mark, and undoes that. It waits for the transaction where that is still at work, as a query would not.
    private async Task<bool?> ReadAsync(DbConnection connection, CancellationToken cancellationToken)
    {
        await using var transaction = await connection.BeginTransactionAsync(IsolationLevel.ReadCommitted, cancellationToken);
        await using var command = connection.CreateCommand();
        command.CommandText = $"set local lock_timeout = '1s'; insert into esb.transaction_mark (id) values ('{mark}') on conflict do nothing";
        return await command.ExecuteNonQueryAsync(cancellationToken) == 0;
    }

    private EndpointException Failure(string code, string sentence, Exception cause) => new(database.Name, code, sentence, isTransient: true, cause, FaultKind.Unavailable);
}
