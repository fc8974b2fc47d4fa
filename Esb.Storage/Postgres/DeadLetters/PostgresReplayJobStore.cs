using Dapper;
using Esb.Core.Replays;
using Esb.Core.Storage;
using Npgsql;

namespace Esb.Storage.Postgres.DeadLetters;

/// <summary>Replay jobs in PostgreSQL, whose clock alone tells who has been silent for too long.</summary>
internal sealed class PostgresReplayJobStore(PostgresDatabase database) : IReplayJobStore
{
    // A job may have very many letters, and each is a row with indexes.
    private const int TakeSeconds = 300;

    private static readonly string Patience = $"interval '{ReplayClaim.Patience.TotalSeconds} seconds'";

    public async Task<ReplayJob?> CreateAsync(ReplayJob job, CancellationToken cancellationToken)
    {
        ReplayJob? made = null;
        await database.RunAsync(async () => made = await InsertAsync(job, cancellationToken), cancellationToken);
        return made;
    }

    public Task<ReplayJob?> FindAsync(string command, CancellationToken cancellationToken) =>
        FirstAsync($"select {PostgresReplayJobRow.Columns} from replay_job job where command = @command", new { command = PostgresText.Clean(command) }, cancellationToken);

    public Task<ReplayJob?> GetAsync(Guid id, CancellationToken cancellationToken) =>
        FirstAsync($"select {PostgresReplayJobRow.Columns} from replay_job job where id = @id", new { id }, cancellationToken);

    public async Task<IReadOnlyList<ReplayJob>> ListAsync(Guid? before, int limit, CancellationToken cancellationToken)
    {
        var columns = PostgresReplayJobRow.Columns.Replace("job.request", "job.request #- '{edit,body}' as request", StringComparison.Ordinal); // may be large, and is not shown
        return await database.QueryAsync<PostgresReplayJobRow>(
                $"select {columns} from replay_job job where @before::uuid is null or id < @before order by id desc limit @limit", new { before, limit = Math.Clamp(limit, 1, 1000) }, cancellationToken)
            .Select(row => row.ToJob()).ToListAsync(cancellationToken);
    }

    public async Task<ReplayJob?> ChangeAsync(Guid id, ReplayState state, OperatorDecision decision, CancellationToken cancellationToken)
    {
        var changed = await FirstAsync(
            $"""
            with changed as (
              update replay_job job set state = @state, changed_at = now(), changed_by = @by, trouble = null,
                replayed_before = case when @state = 'Running' then replayed else replayed_before end,
                failed_before = case when @state = 'Running' then failed else failed_before end
              where id = @id and state not in ('Completed', 'Cancelled') and state <> @state
              returning {PostgresReplayJobRow.Columns}
            ), opened as (
              update dead_letter set state = 'Open', changed_at = now(), changed_by = @by, job = null, replayed_as = null, replayed_to = null
              where job = @id and state = 'Replaying' and @state = 'Cancelled' and exists (select from changed)
            )
            select * from changed
            """,
            new { id, state = state.ToString(), by = PostgresText.Clean(decision.By) },
            cancellationToken);
        return changed ?? await GetAsync(id, cancellationToken);
    }

    public async Task<ReplayClaim?> ClaimAsync(string owner, CancellationToken cancellationToken)
    {
        var job = await FirstAsync(
            $"""
            update replay_job job set owner = @owner, heard_at = now()
            where id = (
              select id from replay_job where state = 'Running' and (owner is null or heard_at < now() - {Patience})
              order by id limit 1 for update skip locked)
            returning {PostgresReplayJobRow.Columns}
            """,
            new { owner },
            cancellationToken);
        return job is null ? null : new ReplayClaim(job, owner);
    }

    public Task<ReplayJob?> RenewAsync(ReplayClaim claim, string? trouble, CancellationToken cancellationToken) =>
        FirstAsync(
            $"""
            update replay_job job set heard_at = now(), trouble = case when state = 'Running' then @trouble else trouble end
            where id = @Id and owner = @Owner returning {PostgresReplayJobRow.Columns}
            """,
            new { claim.Job.Id, claim.Owner, trouble = PostgresText.Clean(trouble) },
            cancellationToken);

    public async Task<IReadOnlyList<DeadLetterSummary>> NextAsync(ReplayClaim claim, int limit, CancellationToken cancellationToken) =>
        await database.QueryAsync<PostgresDeadLetterRow>(
                $"select {PostgresDeadLetterRow.SummaryColumns} from dead_letter where job = @Id and state = 'Replaying' order by number limit @limit", new { claim.Job.Id, limit }, cancellationToken)
            .Select(row => row.ToSummary()).ToListAsync(cancellationToken);

    // Whoever has the job by now: what was sent was sent.
    public Task MarkAsync(ReplayClaim claim, IReadOnlyList<Guid> letters, CancellationToken cancellationToken) =>
        ExecuteAsync(
            """
            with marked as (
              update dead_letter set state = 'Replayed', replays = replays + 1, changed_at = now(), changed_by = @by
              where id = any(@ids) and job = @id and state = 'Replaying'
              returning id
            )
            update replay_job set replayed = replayed + (select count(*) from marked), heard_at = case when owner = @owner then now() else heard_at end where id = @id
            """,
            new { id = claim.Job.Id, owner = claim.Owner, by = claim.Job.CreatedBy, ids = letters.ToArray() },
            cancellationToken);

    public Task ReleaseAsync(ReplayClaim claim, ReplayState state, string? trouble, CancellationToken cancellationToken) =>
        ExecuteAsync(
            """
            update replay_job set owner = null, heard_at = null,
              changed_at = case when state = 'Running' and @state <> 'Running' then now() else changed_at end,
              changed_by = case when state = 'Running' and @state <> 'Running' then null else changed_by end,
              trouble = case when state = 'Running' then @trouble else trouble end,
              state = case when state = 'Running' then @state else state end
            where id = @id and owner = @owner
            """,
            new { id = claim.Job.Id, owner = claim.Owner, state = state.ToString(), trouble = PostgresText.Clean(trouble) },
            cancellationToken);

    private async Task<ReplayJob?> InsertAsync(ReplayJob job, CancellationToken cancellationToken)
    {
        await using var connection = await database.Source.OpenConnectionAsync(cancellationToken);
        await using var transaction = await connection.BeginTransactionAsync(cancellationToken);
        var isNew = await connection.ExecuteAsync(new CommandDefinition(
            """
            insert into replay_job (id, command, fingerprint, request, state, created_at, created_by, reason)
            values (@Id, @Command, @Fingerprint, @Request::jsonb, @State, @CreatedAt, @CreatedBy, @Reason) on conflict (command) do nothing
            """,
            PostgresReplayJobRow.Parameters(job), transaction, cancellationToken: cancellationToken)) == 1;
        if (!isNew) return await FindAsync(job.Command, cancellationToken);

        var total = await TakeAsync(job, connection, transaction, cancellationToken);
        if (total == 0) return null; // the transaction is given up
        await connection.ExecuteAsync(new CommandDefinition("update replay_job set total = @total where id = @Id", new { total, job.Id }, transaction, cancellationToken: cancellationToken));
        await transaction.CommitAsync(cancellationToken);
        return job with { Total = total };
    }

    private static Task<int> TakeAsync(ReplayJob job, NpgsqlConnection connection, NpgsqlTransaction transaction, CancellationToken cancellationToken)
    {
        var letters = job.Request.Letters with { State = job.Request.Letters.State ?? DeadLetterState.Open };
        var which = new PostgresLetterFilter(letters).And("state <> 'Replaying'");
        var where = job.Request.Limit is null ? which.Where : $"where id in (select id from dead_letter {which.Where} order by number limit @limit for update)";
        which.Parameters.AddDynamicParams(new { job = job.Id, by = PostgresText.Clean(job.CreatedBy), redirect = job.Request.Redirect, edited = job.EditedId, limit = job.Request.Limit });
        return connection.ExecuteAsync(new CommandDefinition(
            $"""
            update dead_letter set state = 'Replaying', job = @job, changed_at = now(), changed_by = @by, note = null,
              replayed_to = coalesce(@redirect, endpoint), replayed_as = coalesce(@edited::uuid, message_id)
            {where}
            """,
            which.Parameters, transaction, TakeSeconds, cancellationToken: cancellationToken));
    }

    private async Task<ReplayJob?> FirstAsync(string sql, object parameters, CancellationToken cancellationToken)
    {
        // To its end: what is not read of a command is cancelled, and this one may change something.
        var rows = await database.QueryAsync<PostgresReplayJobRow>(sql, parameters, cancellationToken).ToListAsync(cancellationToken);
        return rows is [var row, ..] ? row.ToJob() : null;
    }

    private Task ExecuteAsync(string sql, object parameters, CancellationToken cancellationToken) =>
        database.RunAsync(
            async () =>
            {
                await using var connection = await database.Source.OpenConnectionAsync(cancellationToken);
                await connection.ExecuteAsync(new CommandDefinition(sql, parameters, cancellationToken: cancellationToken));
            },
            cancellationToken);
}
