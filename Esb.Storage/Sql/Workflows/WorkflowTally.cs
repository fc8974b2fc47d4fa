using Esb.Core.Workflows;

namespace Esb.Storage.Sql.Workflows;

/// <summary>Living instances by workflow and state, in the table <c>workflow_tally</c>. A commit only adds rows, so that commits do not
/// wait for one another.</summary>
internal static class WorkflowTally
{
    private const int MostRows = 20_000;
    private const int FewRows = 200; // read as fast as their sums

    /// <summary>What a group of checkpoints changes; states without a change are left out.</summary>
    public static IReadOnlyList<(string Workflow, WorkflowState State, int Change)> ChangesOf(IReadOnlyList<WorkflowCommit> commits)
    {
        var changes = new Dictionary<(string, WorkflowState), int>();
        foreach (var commit in commits)
        {
            if (commit.Instance is not { } instance || commit.Before == instance.State)
                continue;
            Add(instance.State, 1);
            if (commit.Before is { } before)
                Add(before, -1);

            void Add(WorkflowState state, int change)
            {
                if (!WorkflowInstance.HasEnded(state))
                    changes[(instance.Workflow, state)] = changes.GetValueOrDefault((instance.Workflow, state)) + change;
            }
        }

        return [.. changes.Where(change => change.Value != 0).Select(change => (change.Key.Item1, change.Key.Item2, change.Value))];
    }

    public static SqlRows Rows(IReadOnlyCollection<(string Workflow, WorkflowState State, int Change)> changes) =>
        SqlRows.Of(
            "tally",
            changes,
            ("t_workflow", SqlType.Text, one => one.Workflow),
            ("t_state", SqlType.Text, one => one.State.ToString()),
            ("t_change", SqlType.Number, one => one.Change)
        );

    public static string Insert(SqlDialect dialect, SqlRows rows) =>
        $"insert into workflow_tally (workflow, state, change) select t_workflow, t_state, t_change from {dialect.Rows(rows)} where true";

    /// <summary>Adds the difference between the instances and the sums: one statement, which sees both at the same moment.</summary>
    public static async Task RecountAsync(SqlSession session)
    {
        await session.QueryAsync(session.Dialect.Lock("'workflow_tally'"), _ => true);
        await session.ExecuteAsync(
            """
            insert into workflow_tally (workflow, state, change)
            select workflow, state, sum(number) from (
              select workflow, state, count(*) as number from workflow_instance where ended_at is null group by workflow, state
              union all
              select workflow, state, -sum(change) as number from workflow_tally group by workflow, state
            ) as difference group by workflow, state having sum(number) <> 0
            """
        );
    }

    /// <summary>Replaces rows by their sums. Rows that another host replaces at the same time are not deleted twice.</summary>
    public static async Task SumUpAsync(SqlSession session)
    {
        var count = await session.FirstAsync(
            $"select count(*) as number from (select 1 from workflow_tally limit {FewRows + 1}) as few",
            row => row.Int("number")
        );
        if (count <= FewRows)
            return;
        var rows = await session.QueryAsync(
            $"""
            delete from workflow_tally where number in (select number from workflow_tally order by number limit {MostRows}{session
                .Dialect
                .ForUpdateSkipLocked})
            returning workflow, state, change
            """,
            row => (Workflow: row.Text("workflow"), State: row.State<WorkflowState>("state"), Change: row.Int("change"))
        );
        List<(string, WorkflowState, int)> sums =
        [
            .. rows.GroupBy(row => (row.Workflow, row.State))
                .Select(group => (group.Key.Workflow, group.Key.State, group.Sum(row => row.Change)))
                .Where(sum => sum.Item3 != 0),
        ];
        if (sums.Count == 0)
            return;
        var summed = Rows(sums);
        await session.ExecuteAsync(Insert(session.Dialect, summed), summed);
    }
}
