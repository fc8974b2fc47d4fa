using Dapper;

namespace Esb.Storage.Postgres;

/// <summary>Deletes what is older, in batches: no lock and no transaction is held for long.</summary>
internal static class PostgresBatches
{
    private const int BatchSize = 1000;

    /// <param name="database">The database.</param>
    /// <param name="sql">Deletes up to <c>@limit</c> rows from before <c>@before</c>.</param>
    /// <param name="before">The time, by the clock of this host; where that is ahead of the database's, as much earlier.</param>
    /// <param name="cancellationToken">Ends it; what was deleted stays so.</param>
    /// <returns>How many.</returns>
    /// <exception cref="Core.Errors.EsbException"><c>ESB-STORE-AWAY</c>; <c>ESB-STORE-VERSION</c>.</exception>
    public static async Task<long> DeleteAsync(this PostgresDatabase database, string sql, DateTimeOffset before, CancellationToken cancellationToken)
    {
        before -= await database.RunAsync(connection => database.Clock.AdvanceAsync(connection, cancellationToken), cancellationToken);
        for (var deleted = 0L; ;)
        {
            var batch = await database.RunAsync(
                connection => connection.ExecuteAsync(new CommandDefinition(sql, new { before = before.UtcDateTime, limit = BatchSize }, cancellationToken: cancellationToken)),
                cancellationToken);
            deleted += batch;
            if (batch < BatchSize) return deleted;
        }
    }
}
