using System.Data.Common;
using Esb.Core.Errors;
using Npgsql;

namespace Esb.Endpoints.Sql.Transactions;

/// <summary>Asks a database on another connection whether a transaction was committed whose commit nobody answered.</summary>
/// <param name="transactionId">As <c>pg_current_xact_id</c> told it.</param>
internal sealed class CommitVerdict(Database database, string transactionId, TimeProvider time)
{
    // A database that restarts is back within seconds; longer than this no caller waits gladly.
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(20);
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(250);

    /// <summary>Whether a failed commit may have taken effect all the same: there was no answer, or one of a server that was ending the connection.</summary>
    public static bool IsUnknown(Exception cause) =>
        cause is PostgresException refused ? refused.InvariantSeverity is "FATAL" or "PANIC" : cause is NpgsqlException or OperationCanceledException;

    /// <summary>Returns when the transaction was committed.</summary>
    /// <exception cref="EndpointException">It was not: <c>ESB-SQL-CONNECTION</c>. Nobody can tell: <c>ESB-SQL-UNKNOWN</c>.</exception>
    public async Task AskAsync(Exception cause)
    {
        var started = time.GetTimestamp();
        while (time.GetElapsedTime(started) < Patience)
        {
            switch (await TryAskAsync())
            {
                case "committed": return;
                case "aborted": throw Failure("ESB-SQL-CONNECTION", "The connection was lost before the transaction was committed; nothing of it happened.", cause);
                default: await Task.Delay(Pause, time); break;
            }
        }

        throw Failure("ESB-SQL-UNKNOWN", "The connection was lost during the commit, and the database cannot be asked whether it took effect.", cause);
    }

    // Null: it cannot be asked now. "in progress": the server has not noticed yet that we are gone.
    private async Task<string?> TryAskAsync()
    {
        try
        {
            return await database.UseAsync(database.Name, Patience, ReadAsync, CancellationToken.None);
        }
        catch (Exception ex) when (ex is NpgsqlException or EndpointException)
        {
            return null;
        }
    }

    private async Task<string?> ReadAsync(DbConnection connection, CancellationToken cancellationToken)
    {
        await using var command = connection.CreateCommand();
        command.CommandText = $"select pg_xact_status('{transactionId}'::xid8)";
        return await command.ExecuteScalarAsync(cancellationToken) as string;
    }

    private EndpointException Failure(string code, string sentence, Exception cause) => new(database.Name, code, sentence, isTransient: true, cause, FaultKind.Unavailable);
}
