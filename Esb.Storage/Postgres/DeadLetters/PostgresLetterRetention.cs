using Esb.Storage.DeadLetters;

namespace Esb.Storage.Postgres.DeadLetters;

/// <summary>Lets go of settled letters in PostgreSQL, by rows: a letter settles on another day than it came, so that no partition holds what goes together.</summary>
internal sealed class PostgresLetterRetention(PostgresDatabase database) : ILetterRetention
{
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
        new(await database.DeleteAsync(Letters, before, cancellationToken), await database.DeleteAsync(Jobs, before, cancellationToken));
}
