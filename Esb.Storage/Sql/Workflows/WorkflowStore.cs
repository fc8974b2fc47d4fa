using Esb.Core.Storage;
using Esb.Core.Workflows;

namespace Esb.Storage.Sql.Workflows;

/// <summary>Instances of workflows in the tables <c>workflow_…</c>.</summary>
internal sealed class WorkflowStore(SqlDatabase database) : IWorkflowStore
{
    private static readonly TimeSpan InboxRetention = TimeSpan.FromDays(7);

    // As long as the place of an interchange is kept that began with a definition.
    private static readonly TimeSpan PlaceRetention = TimeSpan.FromDays(7);

    public async Task<IReadOnlyList<CommitResult>> CommitAsync(IReadOnlyList<WorkflowCommit> commits, CancellationToken cancellationToken)
    {
        var results = new Dictionary<WorkflowCommit, CommitResult>(ReferenceEqualityComparer.Instance);
        var left = commits;
        while (left.Count > 0)
        {
            var some = left;
            var (lost, stored) = await database.TransactAsync(session => StoreAsync(session, database.Cipher, some), cancellationToken);
            foreach (var (commit, outcome) in lost)
                results[commit] = new CommitResult(outcome);
            if (lost.Count == 0)
            {
                for (var i = 0; i < some.Count; i++)
                    results[some[i]] = stored[i];
                break;
            }

            left = [.. some.Where(commit => !lost.ContainsKey(commit))];
        }

        return [.. commits.Select(commit => results[commit])];
    }

    public Task<WorkflowTakers> FindTakersAsync(
        string workflow,
        Guid message,
        IReadOnlyList<string> waits,
        IReadOnlyList<string> keys,
        CancellationToken cancellationToken
    )
    {
        var dialect = database.Dialect;
        return database.ReadAsync(
            async session =>
            {
                // Before its first analyze the server takes the keys for 200 different ones, and would find ten instances of a key
                // soonest by reading those of all others in the order of instances: hence the keys first, by themselves.
                await using var results = await session.QueryManyAsync(
                    $"""
                    select 1 as found from workflow_inbox where workflow = @workflow and message_id = @message;
                    select instance_id, wait from workflow_wait where {dialect.IsOneOf(
                        "hash",
                        "waits"
                    )} order by since, instance_id limit 1;
                    with held as materialized (
                      select instance_id from workflow_key where {dialect.IsOneOf("hash", "keys")} and not ended)
                    select distinct instance_id from held limit 10
                    """,
                    [("workflow", workflow), ("message", message), ("waits", waits.ToArray()), ("keys", keys.ToArray())]
                );
                var isKnown = (await results.ReadAsync(_ => true)).Count > 0;
                var waiting = await results.ReadAsync<(Guid, int)?>(row => (row.Id("instance_id"), row.Int("wait")));
                var living = await results.ReadAsync(row => row.Id("instance_id"));
                return new WorkflowTakers(isKnown, waiting.FirstOrDefault(), living);
            },
            cancellationToken
        );
    }

    // One statement, so that the snapshot and its values are of the same checkpoint: a row for the instance, and one for each value.
    public async Task<WorkflowInstance?> FindAsync(Guid id, CancellationToken cancellationToken)
    {
        var rows = await database.QueryAsync<(WorkflowInstance? Instance, string Name, ReadOnlyMemory<byte> Value)>(
            $"""
            select {WorkflowRows.Columns}, null as name, null as data from workflow_instance where id = @id
            union all
            select {WorkflowRows.NoColumns}, name, data from workflow_value where instance_id = @id
            """,
            row =>
                row.TextOrNull("name") is { } name
                    ? (null, name, database.Cipher.Open(row.Bytes("data"), id))
                    : (WorkflowRows.Read(row, database.Cipher), "", default),
            cancellationToken,
            ("id", id)
        );
        var instance = rows.SingleOrDefault(row => row.Instance is not null).Instance;
        return instance is null || rows.Count == 1
            ? instance
            : instance with
            {
                LargeValues = rows.Where(row => row.Instance is null).ToDictionary(row => row.Name, row => row.Value),
            };
    }

    public async Task<EarlyMessage?> FindEarlyAsync(string workflow, Guid message, CancellationToken cancellationToken)
    {
        var rows = await database.QueryAsync(
            "select * from workflow_early where workflow = @workflow and message_id = @message",
            row =>
                (
                    Message: StoredEnvelope.Read(row, database.Cipher),
                    Wait: row.Text("wait_hash"),
                    Key: row.Text("key_hash"),
                    MayStart: row.Flag("may_start")
                ),
            cancellationToken,
            ("workflow", workflow),
            ("message", message)
        );
        return rows.Count == 0 ? null : new EarlyMessage(rows[0].Message, [.. rows.Select(row => (row.Wait, row.Key))], rows[0].MayStart);
    }

    public async Task<IReadOnlyList<(string Workflow, Guid Message)>> FindMatchedAsync(int limit, CancellationToken cancellationToken) =>
        await database.QueryAsync(
            """
            select distinct workflow, message_id from workflow_early
            where wait_hash in (select hash from workflow_wait) or (may_start and not exists (select 1 from workflow_key as living where
              living.hash = workflow_early.key_hash and not living.ended))
            limit @limit
            """,
            row => (row.Text("workflow"), row.Id("message_id")),
            cancellationToken,
            ("limit", limit)
        );

    public async Task<IReadOnlyList<WorkflowEvent>> HistoryAsync(Guid id, int after, int limit, CancellationToken cancellationToken) =>
        await database.QueryAsync(
            "select version, at, state, steps from workflow_event where instance_id = @id and version > @after order by version "
                + "limit @limit",
            row => new WorkflowEvent(id, row.Int("version"), row.Time("at"), row.State<WorkflowState>("state"), row.Text("steps")),
            cancellationToken,
            ("id", id),
            ("after", after),
            ("limit", limit)
        );

    public Task<IReadOnlyList<WorkflowInstance>> ListAsync(WorkflowQuery query, CancellationToken cancellationToken) =>
        database.ReadAsync(session => new InstanceSearch(session, database.Cipher, query).RunAsync(), cancellationToken);

    public async Task<IReadOnlyList<WorkflowCount>> CountAsync(CancellationToken cancellationToken) =>
        await database.QueryAsync(
            "select workflow, definition, state, step, count(*) as number from workflow_instance where ended_at is null group by workflow, "
                + "definition, state, step",
            row => new WorkflowCount(
                row.Text("workflow"),
                row.Text("definition"),
                row.State<WorkflowState>("state"),
                row.Text("step"),
                row.Long("number")
            ),
            cancellationToken
        );

    public async Task<IReadOnlyList<LivingCount>> LivingAsync(CancellationToken cancellationToken) =>
        await database.QueryAsync(
            "select workflow, state, sum(change) as number from workflow_tally group by workflow, state having sum(change) <> 0",
            row => new LivingCount(row.Text("workflow"), row.State<WorkflowState>("state"), row.Long("number")),
            cancellationToken
        );

    public Task SumUpAsync(bool recount, CancellationToken cancellationToken) =>
        database.TransactAsync(
            async session =>
            {
                if (recount)
                    await WorkflowTally.RecountAsync(session);
                await WorkflowTally.SumUpAsync(session);
                return true;
            },
            cancellationToken
        );

    public async Task<IReadOnlyDictionary<string, long>> CountByDefinitionAsync(CancellationToken cancellationToken) =>
        (
            await database.QueryAsync(
                "select definition, count(*) as number from workflow_instance where ended_at is null group by definition",
                row => (Definition: row.Text("definition"), Number: row.Long("number")),
                cancellationToken
            )
        ).ToDictionary(count => count.Definition, count => count.Number);

    public async Task<int> CountLivingAsync(string workflow, int most, CancellationToken cancellationToken) =>
        await database.FirstAsync(
            """
            select count(*) as number from (select 1 from workflow_instance where workflow = @workflow and ended_at is null limit @most)
              as living
            """,
            row => row.Int("number"),
            cancellationToken,
            ("workflow", workflow),
            ("most", most)
        );

    public async Task<IReadOnlyList<Guid>> FindHeldStartsAsync(
        string workflow,
        string wait,
        int limit,
        CancellationToken cancellationToken
    ) =>
        await database.QueryAsync(
            "select message_id from workflow_early where wait_hash = @wait and workflow = @workflow order by stored_at, message_id limit "
                + "@limit",
            row => row.Id("message_id"),
            cancellationToken,
            ("wait", wait),
            ("workflow", workflow),
            ("limit", limit)
        );

    public async Task<IReadOnlyList<Guid>> ChildrenAsync(Guid parent, CancellationToken cancellationToken) =>
        await database.QueryAsync(
            "select id from workflow_instance where parent = @parent and ended_at is null",
            row => row.Id("id"),
            cancellationToken,
            ("parent", parent)
        );

    public Task KeepDefinitionAsync(StoredDefinition definition, CancellationToken cancellationToken) =>
        database.ExecuteAsync(
            "insert into workflow_definition (hash, workflow, content, created_at, used_at, needed_at) values (@hash, @workflow, @content, "
                + "now(), now(), now()) on conflict (hash) do update set used_at = excluded.used_at, needed_at = excluded.needed_at",
            cancellationToken,
            ("hash", definition.Hash),
            ("workflow", definition.Workflow),
            ("content", definition.Content)
        );

    public Task<StoredDefinition?> FindDefinitionAsync(string hash, CancellationToken cancellationToken) =>
        database.FirstAsync("select * from workflow_definition where hash = @hash", ReadDefinition, cancellationToken, ("hash", hash));

    public async Task<IReadOnlyList<StoredDefinition>> UsedDefinitionsAsync(
        TimeSpan within,
        IReadOnlyCollection<string> known,
        CancellationToken cancellationToken
    ) =>
        await database.QueryAsync(
            $"select * from workflow_definition where used_at > now() - @within and not ({database.Dialect.IsOneOf("hash", "known")})",
            ReadDefinition,
            cancellationToken,
            ("within", within),
            ("known", known.ToArray())
        );

    public async Task<IReadOnlyList<StoredDefinition>> LiveDefinitionsAsync(CancellationToken cancellationToken) =>
        await database.QueryAsync(
            "select * from workflow_definition where hash in (select definition from workflow_instance where ended_at is null)",
            ReadDefinition,
            cancellationToken
        );

    public async Task<long> RemoveOldAsync(
        IReadOnlyDictionary<string, TimeSpan> retentions,
        TimeSpan otherwise,
        CancellationToken cancellationToken
    )
    {
        await database.ExecuteAsync(
            "delete from workflow_inbox where received_at < now() - @kept",
            cancellationToken,
            ("kept", InboxRetention)
        );
        var removed = 0L;
        foreach (var workflow in await database.ReadAsync(WorkflowRows.WorkflowsAsync, cancellationToken))
        {
            var retention = retentions.GetValueOrDefault(workflow, otherwise);
            int batch;
            do removed += batch = await database.TransactAsync(session => RemoveAsync(session, workflow, retention), cancellationToken);
            while (batch > 0);
        }

        await RemoveDefinitionsAsync(retentions.Values.Append(otherwise).Max() + PlaceRetention, cancellationToken);
        return removed;
    }

    // A definition is kept as long as the instance that ended last with it.
    private async Task RemoveDefinitionsAsync(TimeSpan retention, CancellationToken cancellationToken)
    {
        const string Living = "select definition from workflow_instance where ended_at is null";
        await database.ExecuteAsync($"update workflow_definition set needed_at = now() where hash in ({Living})", cancellationToken);
        await database.ExecuteAsync(
            $"delete from workflow_definition where needed_at < now() - @retention and hash not in ({Living})",
            cancellationToken,
            ("retention", retention)
        );
    }

    private static async Task<int> RemoveAsync(SqlSession session, string workflow, TimeSpan retention)
    {
        var ids = await session.QueryAsync(
            "select id from workflow_instance where workflow = @workflow and ended_at < now() - @retention limit 500",
            row => row.Id("id"),
            ("workflow", workflow),
            ("retention", retention)
        );
        if (ids.Count == 0)
            return 0;
        foreach (var table in new[] { "workflow_event", "workflow_key", "workflow_value" })
            await session.ExecuteAsync(
                $"delete from {table} where {session.Dialect.IsOneOf("instance_id", "ids")}",
                ("ids", ids.ToArray())
            );
        return await session.ExecuteAsync(
            $"delete from workflow_instance where {session.Dialect.IsOneOf("id", "ids")}",
            ("ids", ids.ToArray())
        );
    }

    private static async Task<(IReadOnlyDictionary<WorkflowCommit, CommitOutcome> Lost, IReadOnlyList<CommitResult> Stored)> StoreAsync(
        SqlSession session,
        IBodyCipher cipher,
        IReadOnlyList<WorkflowCommit> commits
    )
    {
        var group = new CheckpointGroup(session, cipher, commits);
        var lost = await group.StoreAsync();
        return (lost, lost.Count > 0 ? [] : [.. commits.Select(group.ResultOf)]);
    }

    private static StoredDefinition ReadDefinition(SqlRow row) => new(row.Text("hash"), row.Text("workflow"), row.Text("content"));
}
