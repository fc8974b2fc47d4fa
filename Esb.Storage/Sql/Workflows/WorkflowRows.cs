using Esb.Core.Storage;
using Esb.Core.Workflows;

namespace Esb.Storage.Sql.Workflows;

/// <summary>Rows of instances and their history.</summary>
internal static class WorkflowRows
{
    /// <summary>The columns of an instance.</summary>
    public const string Columns =
        "id, workflow, definition, version, state, step, snapshot, keys, started_by, conversation_id, parent, code, reason, started_at, "
        + "changed_at";

    /// <summary>As many without a value, for rows that are no instances.</summary>
    public static readonly string NoColumns = string.Join(", ", Columns.Split(", ").Select(_ => "null"));

    public static SqlRows Instances(string name, IReadOnlyCollection<WorkflowInstance> instances, IBodyCipher cipher) =>
        SqlRows.Of(
            name,
            instances,
            ("w_id", SqlType.Id, one => one.Id),
            ("w_workflow", SqlType.Text, one => one.Workflow),
            ("w_definition", SqlType.Text, one => one.Definition),
            ("w_version", SqlType.Number, one => one.Version),
            ("w_state", SqlType.Text, one => one.State.ToString()),
            ("w_step", SqlType.Text, one => one.Step),
            ("w_snapshot", SqlType.Bytes, one => cipher.Seal(one.Snapshot, one.Id)),
            ("w_keys", SqlType.Text, one => one.Keys),
            ("w_started_by", SqlType.Id, one => one.StartedBy),
            ("w_conversation", SqlType.Id, one => one.ConversationId),
            ("w_parent", SqlType.Id, one => one.Parent),
            ("w_code", SqlType.Text, one => one.Code),
            ("w_reason", SqlType.Text, one => one.Reason),
            ("w_is_ended", SqlType.Flag, one => one.IsEnded)
        );

    public static WorkflowInstance Read(SqlRow row, IBodyCipher cipher) =>
        new()
        {
            Id = row.Id("id"),
            Workflow = row.Text("workflow"),
            Definition = row.Text("definition"),
            Version = row.Int("version"),
            State = row.State<WorkflowState>("state"),
            Step = row.Text("step"),
            Snapshot = cipher.Open(row.Bytes("snapshot"), row.Id("id")),
            Keys = row.Text("keys"),
            StartedBy = row.Id("started_by"),
            ConversationId = row.Id("conversation_id"),
            Parent = row.IdOrNull("parent"),
            Code = row.TextOrNull("code"),
            Reason = row.TextOrNull("reason"),
            StartedAt = row.Time("started_at"),
            ChangedAt = row.Time("changed_at"),
        };

    /// <summary>The names of all workflows that have instances: steps from one to the next in the index, whatever the number of
    /// instances.</summary>
    public static Task<List<string>> WorkflowsAsync(SqlSession session) =>
        session.QueryAsync(
            """
            with recursive known (workflow) as (
              select min(workflow) from workflow_instance
              union all
              select (select min(workflow) from workflow_instance where workflow > known.workflow) from known where workflow is not null)
            select workflow from known where workflow is not null
            """,
            row => row.Text("workflow")
        );
}
