using System.Text;
using Esb.Core.Messages;
using Esb.Core.Storage;
using Esb.Core.Workflows;
using Esb.Storage.Sql.Outbox;
using Esb.Storage.Sql.Timers;

namespace Esb.Storage.Sql.Workflows;

/// <summary>Stores checkpoints with as few statements as there are tables, whatever their number. First comes everything that decides
/// whether a checkpoint may be stored.</summary>
/// <remarks>Where one may not, the transaction is given up, and the others are stored again without it: that is rare, and needs no
/// savepoint.</remarks>
internal sealed class CheckpointGroup(SqlSession session, IBodyCipher cipher, IReadOnlyList<WorkflowCommit> commits)
{
    // The host that stores messages publishes them at once; another one takes over after this time.
    public static readonly TimeSpan Claim = TimeSpan.FromSeconds(20);

    private readonly StringBuilder _sql = new();
    private readonly List<SqlRows> _rows = [];
    private readonly List<Func<SqlResults, Task>> _readers = [];
    private readonly Dictionary<WorkflowCommit, CommitOutcome> _lost = new(ReferenceEqualityComparer.Instance);
    private readonly HashSet<string> _unpublished = [];
    private readonly List<(Guid Instance, int Wait, Guid Message)> _early = [];
    private readonly HashSet<Guid> _awaited = [];
    private readonly Dictionary<Guid, HashSet<string>> _ended = [];
    private readonly List<(string Key, Guid Message)> _starting = [];
    private readonly List<(string Key, EsbMessage Message)> _late = [];

    private SqlDialect Dialect => session.Dialect;

    /// <summary>Stores all of them, or gives the transaction up.</summary>
    /// <returns>The checkpoints that may not be stored; empty if all are.</returns>
    public async Task<IReadOnlyDictionary<WorkflowCommit, CommitOutcome>> StoreAsync()
    {
        Decide();
        await RunAsync();
        if (_lost.Count > 0)
        {
            session.GiveUp();
            return _lost;
        }

        Apply();
        await RunAsync();
        return _lost;
    }

    /// <summary>The result of a stored checkpoint.</summary>
    public CommitResult ResultOf(WorkflowCommit commit)
    {
        var instance = commit.Instance;
        var keys = instance?.IsEnded == true && _starting.Count + _late.Count > 0 ? EndedKeys(commit) : [];
        return new CommitResult(CommitOutcome.Committed)
        {
            Early = instance is null ? [] : [.. _early.Where(one => one.Instance == instance.Id).Select(one => (one.Wait, one.Message))],
            IsAwaited = commit.Early is { } early && _awaited.Contains(early.Message.Id),
            Starting = [.. _starting.Where(one => keys.Contains(one.Key)).Select(one => one.Message).Distinct()],
            Late = [.. _late.Where(one => keys.Contains(one.Key)).Select(one => one.Message).DistinctBy(message => message.Id)],
            FollowsUnpublished = commit.Outgoing.Any(message => _unpublished.Contains(message.Owner)),
        };
    }

    private HashSet<string> EndedKeys(WorkflowCommit commit) => _ended.TryGetValue(commit.Instance!.Id, out var keys) ? keys : [];

    private void Decide()
    {
        Require(
            commits.Where(commit => commit.Inbox is not null).ToList(),
            CommitOutcome.Duplicate,
            "inbox",
            [("i_workflow", SqlType.Text, commit => commit.Workflow), ("i_message", SqlType.Id, commit => commit.Inbox)],
            rows =>
                $"insert into workflow_inbox (workflow, message_id, received_at) select i_workflow, i_message, now() from "
                + $"{Dialect.Rows(rows)} where true on conflict do nothing returning workflow, message_id as id",
            commit => commit.Inbox!.Value,
            isOfWorkflow: true
        );
        Require(
            commits.Where(commit => commit.Taken is not null).ToList(),
            CommitOutcome.Gone,
            "taken",
            [("e_workflow", SqlType.Text, commit => commit.Workflow), ("e_message", SqlType.Id, commit => commit.Taken)],
            rows =>
                $"delete from workflow_early where (workflow, message_id) in (select e_workflow, e_message from "
                + $"{Dialect.Rows(rows)}) returning workflow, message_id as id",
            commit => commit.Taken!.Value,
            isOfWorkflow: true
        );
        Require(
            commits.Where(commit => commit.Fired is not null).ToList(),
            CommitOutcome.Gone,
            "fired",
            [("f_timer", SqlType.Id, commit => commit.Fired)],
            rows => $"delete from timer where id in (select f_timer from {Dialect.Rows(rows)}) returning id",
            commit => commit.Fired!.Value
        );
        RequireKeys();
        var begun = commits.Where(commit => commit.Instance is { Version: 1 }).ToList();
        RequireRows(
            begun,
            CommitOutcome.Stale,
            WorkflowRows.Instances("began", [.. begun.Select(commit => commit.Instance!)], cipher),
            rows =>
                $"""
                    insert into workflow_instance (id, workflow, definition, version, state, step, snapshot, keys, started_by,
                      conversation_id, parent, code, reason, started_at, changed_at, ended_at)
                    select w_id, w_workflow, w_definition, w_version, w_state, w_step, w_snapshot, w_keys, w_started_by, w_conversation,
                      w_parent, w_code, w_reason, now(), now(), case when w_is_ended then now() end
                    from {Dialect.Rows(rows)} where true on conflict (id) do nothing returning id
                    """,
            commit => commit.Instance!.Id
        );
        var changed = commits.Where(commit => commit.Instance is { Version: > 1 }).ToList();
        RequireRows(
            changed,
            CommitOutcome.Stale,
            WorkflowRows.Instances("changed", [.. changed.Select(commit => commit.Instance!)], cipher),
            rows =>
                $"""
                    update workflow_instance set version = w_version, state = w_state, step = w_step, snapshot = w_snapshot, keys = w_keys,
                      code = w_code, reason = w_reason, definition = w_definition,
                      changed_at = now(), ended_at = case when w_is_ended then now() end
                    from {Dialect.Rows(rows)} where id = w_id and version = w_version - 1 returning id
                    """,
            commit => commit.Instance!.Id
        );
    }

    // Rows of a checkpoint that did not appear among the returned ids were refused.
    private void Require(
        IReadOnlyList<WorkflowCommit> some,
        CommitOutcome otherwise,
        string name,
        IEnumerable<(string Column, SqlType Type, Func<WorkflowCommit, object?> Value)> columns,
        Func<SqlRows, string> sql,
        Func<WorkflowCommit, Guid> id,
        bool isOfWorkflow = false
    ) => RequireRows(some, otherwise, SqlRows.Of(name, some, columns), sql, id, isOfWorkflow);

    private void RequireRows(
        IReadOnlyList<WorkflowCommit> some,
        CommitOutcome otherwise,
        SqlRows rows,
        Func<SqlRows, string> sql,
        Func<WorkflowCommit, Guid> id,
        bool isOfWorkflow = false
    )
    {
        if (some.Count == 0)
            return;
        Add(sql(rows), rows);
        _readers.Add(async results =>
        {
            // A message that two workflows take has a row of each.
            var stored = (await results.ReadAsync(row => (isOfWorkflow ? row.Text("workflow") : "", row.Id("id")))).ToHashSet();
            foreach (var commit in some)
            {
                // Of several with one id, the first is the one that was stored.
                if (!stored.Remove((isOfWorkflow ? commit.Workflow : "", id(commit))))
                    _lost.TryAdd(commit, otherwise);
            }
        });
    }

    private void RequireKeys()
    {
        var keys = commits.SelectMany(commit => commit.Keys, (commit, key) => (Commit: commit, Key: key)).ToList();
        if (keys.Count == 0)
            return;
        var rows = SqlRows.Of(
            "keyed",
            keys,
            ("k_hash", SqlType.Text, one => one.Key.Hash),
            ("k_instance", SqlType.Id, one => one.Commit.Instance!.Id),
            ("k_exclusive", SqlType.Flag, one => one.Key.IsExclusive)
        );
        Add(
            $"insert into workflow_key (hash, instance_id, exclusive) select k_hash, k_instance, k_exclusive from "
                + $"{Dialect.Rows(rows)} where true on conflict do nothing returning hash, instance_id",
            rows
        );
        _readers.Add(async results =>
        {
            var stored = (await results.ReadAsync(row => (row.Text("hash"), row.Id("instance_id")))).ToHashSet();
            foreach (var (commit, key) in keys)
            {
                if (!stored.Contains((key.Hash, commit.Instance!.Id)))
                    _lost.TryAdd(commit, CommitOutcome.Occupied);
            }
        });
    }

    private void Apply()
    {
        Change(
            commits.SelectMany(commit => commit.EndedWaits, (commit, wait) => (commit.Instance!.Id, wait)).ToList(),
            "waits_over",
            [("l_instance", SqlType.Id, one => one.Id), ("l_wait", SqlType.Number, one => one.wait)],
            rows => $"delete from workflow_wait where (instance_id, wait) in (select l_instance, l_wait from {Dialect.Rows(rows)})"
        );
        Change(
            commits.Where(commit => commit.EndsAllWaits || commit.Instance?.IsEnded == true).ToList(),
            "stopped",
            [("s_instance", SqlType.Id, commit => commit.Instance!.Id)],
            rows => $"delete from workflow_wait where instance_id in (select s_instance from {Dialect.Rows(rows)})"
        );
        var timers = commits.SelectMany(commit => commit.Timers).ToList();
        if (commits.SelectMany(commit => commit.EndedTimers).ToList() is { Count: > 0 } ended)
            Change(
                ended,
                "timers_over",
                [("o_timer", SqlType.Id, id => id)],
                rows => $"delete from timer where id in (select o_timer from {Dialect.Rows(rows)})"
            );
        if (timers.Count > 0)
            Add(TimerRows.Insert(Dialect, AddRows(TimerRows.Of("timers", timers, Claim))));
        KeepValues();
        Publish();
        if (WorkflowTally.ChangesOf(commits) is { Count: > 0 } changes)
            Add(WorkflowTally.Insert(Dialect, AddRows(WorkflowTally.Rows(changes))));
        Change(
            commits.Where(commit => commit.Instance is not null).ToList(),
            "events",
            [
                ("v_instance", SqlType.Id, commit => commit.Instance!.Id),
                ("v_version", SqlType.Number, commit => commit.Instance!.Version),
                ("v_state", SqlType.Text, commit => commit.Instance!.State.ToString()),
                ("v_steps", SqlType.Json, commit => new SqlJson(commit.Steps)),
            ],
            rows =>
                $"insert into workflow_event (instance_id, version, at, state, steps) select v_instance, v_version, now(), v_state, "
                + $"v_steps from {Dialect.Rows(rows)}"
        );
        Change(
            commits.Where(commit => commit.Forgotten is not null).ToList(),
            "forgotten",
            [("g_workflow", SqlType.Text, commit => commit.Workflow), ("g_message", SqlType.Id, commit => commit.Forgotten)],
            rows => $"delete from workflow_inbox where (workflow, message_id) in (select g_workflow, g_message from {Dialect.Rows(rows)})"
        );
        KeepEarly();
        Wait();
        End();
    }

    private void KeepValues()
    {
        Change(
            commits.SelectMany(commit => commit.NewValues, (commit, name) => (Instance: commit.Instance!, Name: name)).ToList(),
            "new_values",
            [
                ("h_instance", SqlType.Id, one => one.Instance.Id),
                ("h_name", SqlType.Text, one => one.Name),
                ("h_data", SqlType.Bytes, one => cipher.Seal(one.Instance.LargeValues[one.Name], one.Instance.Id)),
            ],
            rows =>
                $"insert into workflow_value (instance_id, name, data) select h_instance, h_name, h_data from {Dialect.Rows(rows)} "
                + "where true on conflict do nothing"
        );
        Change(
            commits.SelectMany(commit => commit.UnusedValues, (commit, name) => (commit.Instance!.Id, Name: name)).ToList(),
            "unused_values",
            [("d_instance", SqlType.Id, one => one.Id), ("d_name", SqlType.Text, one => one.Name)],
            rows => $"delete from workflow_value where (instance_id, name) in (select d_instance, d_name from {Dialect.Rows(rows)})"
        );
    }

    private void Publish()
    {
        var outgoing = commits.SelectMany(commit => commit.Outgoing).ToList();
        if (outgoing.Count == 0)
            return;
        var owners = SqlRows.Of(
            "owners",
            outgoing.Select(message => message.Owner).Distinct().ToList(),
            ("p_owner", SqlType.Text, owner => owner)
        );
        Add($"select distinct owner from outbox where owner in (select p_owner from {Dialect.Rows(owners)})", owners);
        _readers.Add(async results => _unpublished.UnionWith(await results.ReadAsync(row => row.Text("owner"))));
        Add(OutboxRows.Insert(Dialect, AddRows(OutboxRows.Of("outgoing", outgoing, Claim, cipher))));
    }

    private void KeepEarly()
    {
        var early = commits
            .Where(commit => commit.Early is not null)
            .SelectMany(commit => commit.Early!.Matches, (commit, match) => (commit.Workflow, Early: commit.Early!, match.Wait, match.Key))
            .ToList();
        if (early.Count == 0)
            return;
        var rows = SqlRows.Of(
            "early",
            early,
            [
                ("e_workflow", SqlType.Text, one => one.Workflow),
                ("e_wait", SqlType.Text, one => one.Wait),
                ("e_key", SqlType.Text, one => one.Key),
                ("e_may_start", SqlType.Flag, one => one.Early.MayStart),
                .. StoredEnvelope.ColumnsOf<(string Workflow, EarlyMessage Early, string Wait, string Key)>(
                    "a",
                    cipher,
                    one => one.Early.Message
                ),
            ]
        );
        Add(
            $"""
            insert into workflow_early (workflow, wait_hash, key_hash, may_start, stored_at, {StoredEnvelope.Columns})
            select e_workflow, e_wait, e_key, e_may_start, now(), {StoredEnvelope.SelectOf("a")} from {Dialect.Rows(rows)} where true
            on conflict do nothing
            """,
            rows
        );
        var waits = SqlRows.Of(
            "sought",
            early,
            ("b_wait", SqlType.Text, one => one.Wait),
            ("b_message", SqlType.Id, one => one.Early.Message.Id)
        );
        Add($"select b_message from {Dialect.Rows(waits)} where b_wait in (select hash from workflow_wait)", waits);
        _readers.Add(async results => _awaited.UnionWith(await results.ReadAsync(row => row.Id("b_message"))));
    }

    private void Wait()
    {
        var waits = commits.SelectMany(commit => commit.Waits, (commit, wait) => (commit.Instance!.Id, wait.Number, wait.Hash)).ToList();
        if (waits.Count == 0)
            return;
        var rows = SqlRows.Of(
            "waits",
            waits,
            ("n_instance", SqlType.Id, one => one.Id),
            ("n_wait", SqlType.Number, one => one.Number),
            ("n_hash", SqlType.Text, one => one.Hash)
        );
        Add(
            $"""
            insert into workflow_wait (instance_id, wait, hash, since) select n_instance, n_wait, n_hash, now() from {Dialect.Rows(
                rows
            )} where true
            on conflict (instance_id, wait) do nothing
            """,
            rows
        );
        var sought = SqlRows.Of(
            "matched",
            waits,
            ("m_instance", SqlType.Id, one => one.Id),
            ("m_wait", SqlType.Number, one => one.Number),
            ("m_hash", SqlType.Text, one => one.Hash)
        );
        Add(
            $"select m_instance, m_wait, message_id from {Dialect.Rows(sought)} join workflow_early on wait_hash = m_hash order by "
                + $"stored_at, message_id",
            sought
        );
        _readers.Add(async results =>
            _early.AddRange(await results.ReadAsync(row => (row.Id("m_instance"), row.Int("m_wait"), row.Id("message_id"))))
        );
    }

    private void End()
    {
        var ended = commits.Where(commit => commit.Instance?.IsEnded == true).Select(commit => commit.Instance!.Id).ToList();
        if (ended.Count == 0)
            return;
        var rows = SqlRows.Of("ending", ended, ("x_instance", SqlType.Id, id => id));
        Add($"update workflow_key set ended = true where {OfInstances("x_instance", rows)} returning hash, instance_id", rows);
        _readers.Add(async results =>
        {
            foreach (var (hash, instance) in await results.ReadAsync(row => (row.Text("hash"), row.Id("instance_id"))))
                (_ended.TryGetValue(instance, out var keys) ? keys : _ended[instance] = []).Add(hash);
        });
        var starting = SqlRows.Of("starting", ended, ("y_instance", SqlType.Id, id => id));
        Add(
            $"select key_hash, message_id from workflow_early where may_start and {Unclaimed(starting)} order by stored_at, message_id",
            starting
        );
        _readers.Add(async results => _starting.AddRange(await results.ReadAsync(row => (row.Text("key_hash"), row.Id("message_id")))));
        var late = SqlRows.Of("late", ended, ("y_instance", SqlType.Id, id => id));
        Add($"delete from workflow_early where not may_start and {Unclaimed(late)} returning key_hash, {StoredEnvelope.Columns}", late);
        _readers.Add(async results =>
            _late.AddRange(await results.ReadAsync(row => (row.Text("key_hash"), StoredEnvelope.Read(row, cipher))))
        );
    }

    // Early messages with a key of an instance that has just ended, and of none that lives.
    private string Unclaimed(SqlRows ended) =>
        Dialect.IsAmong("key_hash", $"select hash from workflow_key where {OfInstances("y_instance", ended)}")
        + " and not exists (select 1 from workflow_key as living where living.hash = workflow_early.key_hash and not living.ended)";

    // Looked up by the index: joined to the rows, a table that was empty when the plan was made is read whole for each of them.
    private string OfInstances(string column, SqlRows rows) => Dialect.IsAmong("instance_id", $"select {column} from {Dialect.Rows(rows)}");

    private void Change<T>(
        IReadOnlyCollection<T> some,
        string name,
        IEnumerable<(string Column, SqlType Type, Func<T, object?> Value)> columns,
        Func<SqlRows, string> sql
    )
    {
        if (some.Count == 0)
            return;
        var rows = SqlRows.Of(name, some, columns);
        Add(sql(rows), rows);
    }

    private SqlRows AddRows(SqlRows rows)
    {
        _rows.Add(rows);
        return rows;
    }

    private void Add(string sql, params ReadOnlySpan<SqlRows> rows)
    {
        _sql.Append(sql).Append(";\n");
        foreach (var one in rows)
            _rows.Add(one);
    }

    private async Task RunAsync()
    {
        if (_sql.Length == 0)
            return;
        await using (var results = await session.QueryManyAsync(_sql.ToString(), [], [.. _rows]))
        {
            foreach (var read in _readers)
                await read(results);
        }

        _sql.Clear();
        _rows.Clear();
        _readers.Clear();
    }
}
