using Dapper;
using Esb.Storage.DeadLetters;

namespace Esb.Storage.Postgres.DeadLetters;

/// <summary>Lets go of settled letters in PostgreSQL, by rows: a letter settles on another day than it came, so that no partition holds what goes together.</summary>
internal sealed class PostgresLetterRetention(PostgresDatabase database) : ILetterRetention
{
    private const int BatchSize = 1000;

    private const string Letters =
        """
        delete from dead_letter where number = any(array(
          select number from dead_letter where state in ('Replayed', 'Discarded') and changed_at < @before order by changed_at limit @limit for update skip locked))
        """;

    private const string Jobs =
        """
        delete from replay_job where id = any(array(
          select id from replay_job job where state in ('Completed', 'Cancelled') and coalesce(changed_at, created_at) < @before
            and not exists (select from dead_letter letter where letter.job = job.id)
          limit @limit for update skip locked))
        """;

    public async Task<SettledLetters> RemoveSettledAsync(DateTimeOffset before, CancellationToken cancellationToken) =>
        new(await DeleteAsync(Letters, before, cancellationToken), await DeleteAsync(Jobs, before, cancellationToken));

    // In batches: no lock and no transaction is held for long.
    private async Task<long> DeleteAsync(string sql, DateTimeOffset before, CancellationToken cancellationToken)
    {
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
