using Esb.Storage.DeadLetters;

namespace Esb.Storage.Sql.DeadLetters;

/// <summary>
/// Deletes settled letters by rows: a letter settles on another day than it arrived, so that no partition holds letters that expire
/// together.
/// </summary>
internal sealed class SqlLetterRetention(SqlDatabase database) : ILetterRetention
{
    public async Task<SettledLetters> RemoveSettledAsync(DateTimeOffset before, CancellationToken cancellationToken)
    {
        var skip = database.Dialect.ForUpdateSkipLocked;
        var letters = database.Dialect.IsAmong(
            "number",
            $"select number from dead_letter where state in ('Replayed', 'Discarded') and changed_at < @before order by changed_at "
                + $"limit @limit{skip}"
        );
        var jobs = database.Dialect.IsAmong(
            "id",
            $"""
            select id from replay_job where state in ('Completed', 'Cancelled') and coalesce(changed_at, created_at) < @before
              and not exists (select 1 from dead_letter where job = replay_job.id) limit @limit{skip}
            """
        );
        return new SettledLetters(
            await database.DeleteAsync($"delete from dead_letter where {letters}", before, cancellationToken),
            await database.DeleteAsync($"delete from replay_job where {jobs}", before, cancellationToken)
        );
    }
}
