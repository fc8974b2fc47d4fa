using Esb.Core.Replays;
using Esb.Core.Storage;

namespace Esb.Storage.Sql.DeadLetters;

/// <summary>Replay jobs in the table <c>replay_job</c>. The clock of the database alone decides which host has been silent for too
/// long.</summary>
internal sealed class ReplayJobStore(SqlDatabase database) : IReplayJobStore
{
    private const string NoneIfKnown =
        $"insert into replay_job ({ReplayJobRow.Columns}) values ({ReplayJobRow.Values}) on conflict (command) do nothing";

    // A job may have very many letters, and each is a row with indexes.
    private static readonly TimeSpan TakeTimeout = TimeSpan.FromSeconds(300);

    public Task<ReplayJob?> CreateAsync(ReplayJob job, CancellationToken cancellationToken) =>
        database.TransactAsync(
            async session =>
            {
                var isNew = await session.ExecuteAsync(NoneIfKnown, ReplayJobRow.Parameters(job, database.Cipher)) == 1;
                if (!isNew)
                    return await session.FirstAsync(
                        $"select {ReplayJobRow.Columns} from replay_job where command = @command",
                        Read,
                        ("command", job.Command)
                    );

                var total = await TakeAsync(session, job);
                if (total == 0)
                {
                    session.GiveUp();
                    return null;
                }

                await session.ExecuteAsync("update replay_job set total = @total where id = @id", ("total", total), ("id", job.Id));
                return job with { Total = total };
            },
            cancellationToken
        );

    public Task<ReplayJob?> FindAsync(string command, CancellationToken cancellationToken) =>
        database.FirstAsync(
            $"select {ReplayJobRow.Columns} from replay_job where command = @command",
            Read,
            cancellationToken,
            ("command", command)
        );

    public Task<ReplayJob?> GetAsync(Guid id, CancellationToken cancellationToken) =>
        database.FirstAsync($"select {ReplayJobRow.Columns} from replay_job where id = @id", Read, cancellationToken, ("id", id));

    public async Task<IReadOnlyList<ReplayJob>> ListAsync(Guid? before, int limit, CancellationToken cancellationToken)
    {
        var request = $"{database.Dialect.Without("request", "edit", "body")} as request"; // may be large, and is not listed
        var columns = ReplayJobRow.Columns.Replace("request", request, StringComparison.Ordinal);
        var where = before is null ? "" : "where id < @before";
        (string, object?)[] parameters = before is null ? [] : [("before", before)];
        return await database.QueryAsync(
            $"select {columns} from replay_job {where} order by id desc limit {Math.Clamp(limit, 1, 1000)}",
            Read,
            cancellationToken,
            parameters
        );
    }

    public Task<ReplayJob?> ChangeAsync(Guid id, ReplayState state, OperatorDecision decision, CancellationToken cancellationToken) =>
        database.TransactAsync(
            async session =>
            {
                if (state == ReplayState.Cancelled)
                    await LockAsync(session, "", ("id", id));
                (string, object?)[] parameters = [("id", id), ("state", state), ("by", decision.By)];
                var changed = await session.FirstAsync(
                    $"""
                    update replay_job set state = @state, changed_at = now(), changed_by = @by, trouble = null,
                      replayed_before = case when @state = 'Running' then replayed else replayed_before end,
                      failed_before = case when @state = 'Running' then failed else failed_before end
                    where id = @id and state not in ('Completed', 'Cancelled') and state <> @state
                    returning {ReplayJobRow.Columns}
                    """,
                    Read,
                    parameters
                );
                if (changed is null)
                    return await session.FirstAsync($"select {ReplayJobRow.Columns} from replay_job where id = @id", Read, ("id", id));

                if (state == ReplayState.Cancelled)
                {
                    await session.ExecuteAsync(
                        """
                        update dead_letter set state = 'Open', changed_at = now(), changed_by = @by, job = null, replayed_as = null,
                          replayed_to = null
                        where job = @id and state = 'Replaying'
                        """,
                        ("id", id),
                        ("by", decision.By)
                    );
                }

                return changed;
            },
            cancellationToken
        );

    public async Task<ReplayClaim?> ClaimAsync(string owner, CancellationToken cancellationToken)
    {
        const string Free =
            "select id from replay_job where state = 'Running' and (owner is null or heard_at < now() - @patience) order by id limit 1";
        var job = await database.WriteAsync(
            session =>
                session.FirstAsync(
                    $"""
                    update replay_job set owner = @owner, heard_at = now() where {database.Dialect.IsAmong(
                        "id",
                        Free + database.Dialect.ForUpdateSkipLocked
                    )}
                    returning {ReplayJobRow.Columns}
                    """,
                    Read,
                    ("owner", owner),
                    ("patience", ReplayClaim.Patience)
                ),
            cancellationToken,
            isRepeatable: true
        );
        return job is null ? null : new ReplayClaim(job, owner);
    }

    public Task<ReplayJob?> RenewAsync(ReplayClaim claim, string? trouble, CancellationToken cancellationToken) =>
        database.WriteAsync(
            session =>
                session.FirstAsync(
                    $"""
                    update replay_job set heard_at = now(), trouble = case when state = 'Running' then @trouble else trouble end
                    where id = @id and owner = @owner returning {ReplayJobRow.Columns}
                    """,
                    Read,
                    ("id", claim.Job.Id),
                    ("owner", claim.Owner),
                    ("trouble", trouble)
                ),
            cancellationToken,
            isRepeatable: true
        );

    public async Task<IReadOnlyList<DeadLetterSummary>> NextAsync(ReplayClaim claim, int limit, CancellationToken cancellationToken) =>
        await database.QueryAsync(
            $"select {LetterRow.SummaryColumns} from dead_letter where job = @id and state = 'Replaying' order by number limit @limit",
            LetterRow.Summary,
            cancellationToken,
            ("id", claim.Job.Id),
            ("limit", limit)
        );

    // Applies even if another host holds the job by now: the letters have been sent.
    public Task MarkAsync(ReplayClaim claim, IReadOnlyList<Guid> letters, CancellationToken cancellationToken) =>
        database.TransactAsync(
            async session =>
            {
                var isMarked = session.Dialect.IsOneOf("id", "ids");
                await LockAsync(session, $"and {isMarked}", ("id", claim.Job.Id), ("ids", letters.ToArray()));
                var marked = await session.ExecuteAsync(
                    $"""
                    update dead_letter set state = 'Replayed', replays = replays + 1, changed_at = now(), changed_by = @by
                    where {isMarked} and job = @id and state = 'Replaying'
                    """,
                    ("id", claim.Job.Id),
                    ("by", claim.Job.CreatedBy),
                    ("ids", letters.ToArray())
                );
                return await session.ExecuteAsync(
                    "update replay_job set replayed = replayed + @marked, heard_at = case when owner = @owner then now() else "
                        + "heard_at end where id = @id",
                    ("id", claim.Job.Id),
                    ("owner", claim.Owner),
                    ("marked", marked)
                );
            },
            cancellationToken
        );

    public Task ReleaseAsync(ReplayClaim claim, ReplayState state, string? trouble, CancellationToken cancellationToken) =>
        database.ExecuteAsync(
            """
            update replay_job set owner = null, heard_at = null,
              changed_at = case when state = 'Running' and @state <> 'Running' then now() else changed_at end,
              changed_by = case when state = 'Running' and @state <> 'Running' then null else changed_by end,
              trouble = case when state = 'Running' then @trouble else trouble end,
              state = case when state = 'Running' then @state else state end
            where id = @id and owner = @owner
            """,
            cancellationToken,
            ("id", claim.Job.Id),
            ("owner", claim.Owner),
            ("state", state),
            ("trouble", trouble)
        );

    private ReplayJob Read(SqlRow row) => ReplayJobRow.Read(row, database.Cipher);

    // Transactions that change letters and their job lock the letters first, in one order: otherwise two of them could deadlock.
    private static Task LockAsync(SqlSession session, string which, params (string Name, object? Value)[] parameters) =>
        session.FirstAsync(
            $"""
            select count(*) as number from (
              select 1 from dead_letter where job = @id and state = 'Replaying' {which} order by number{session.Dialect.ForUpdate}
            ) locked
            """,
            row => row.Long("number"),
            parameters
        );

    private static async Task<int> TakeAsync(SqlSession session, ReplayJob job)
    {
        var letters = job.Request.Letters with { State = job.Request.Letters.State ?? DeadLetterState.Open };
        var which = new LetterFilter(letters, session.Dialect).And("state <> 'Replaying'");
        var oldest = $"select id from dead_letter {which.Where} order by number limit {job.Request.Limit}{session.Dialect.ForUpdate}";
        var where = job.Request.Limit is null ? which.Where : $"where id in ({oldest})";
        session.Timeout = TakeTimeout;
        var taken = await session.ExecuteAsync(
            $"""
            update dead_letter set state = 'Replaying', job = @job, changed_at = now(), changed_by = @by, note = null,
              replayed_to = coalesce(@redirect, endpoint), 
              replayed_as = coalesce(@edited, (select e.message_id from letter_edit e where e.letter_id = dead_letter.id), message_id)
            {where}
            """,
            which.With(("job", job.Id), ("by", job.CreatedBy), ("redirect", job.Request.Redirect), ("edited", job.EditedId))
        );
        session.Timeout = null;
        return taken;
    }
}
