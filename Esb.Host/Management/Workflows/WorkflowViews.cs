using System.Text.Json;
using System.Text.Json.Nodes;
using Esb.Core.Workflows;

namespace Esb.Host.Management.Workflows;

/// <summary>An instance of a workflow as lists show it.</summary>
internal sealed record WorkflowInstanceView(
    Guid Id,
    string Workflow,
    string Definition,
    WorkflowState State,
    string Step,
    IReadOnlyDictionary<string, string> Keys,
    DateTimeOffset StartedAt,
    DateTimeOffset ChangedAt,
    int Version,
    string? Code,
    string? Reason,
    Guid StartedBy,
    Guid? Parent
)
{
    /// <summary>Variables and waits; only of a single instance.</summary>
    public JsonNode? Details { get; init; }

    public static WorkflowInstanceView Of(WorkflowInstance instance) =>
        new(
            instance.Id,
            instance.Workflow,
            instance.Definition,
            instance.State,
            instance.Step,
            KeysOf(instance),
            instance.StartedAt,
            instance.ChangedAt,
            instance.Version,
            instance.Code,
            instance.Reason,
            instance.StartedBy,
            instance.Parent
        );

    private static Dictionary<string, string> KeysOf(WorkflowInstance instance) =>
        instance
            .Keys.Split('\n', StringSplitOptions.RemoveEmptyEntries)
            .Select(key => key.Split('=', 2))
            .ToDictionary(key => key[0], key => key[1]);
}

/// <summary>A checkpoint of an instance's history.</summary>
internal sealed record WorkflowEventView(int Version, DateTimeOffset At, WorkflowState State, JsonElement Steps)
{
    public static WorkflowEventView Of(WorkflowEvent line) => new(line.Version, line.At, line.State, JsonElement.Parse(line.Steps));
}

/// <summary>A definition, with the number of instances on each of its steps.</summary>
internal sealed record WorkflowDefinitionView(
    string Workflow,
    string Hash,
    bool IsCurrent,
    string Description,
    IReadOnlyDictionary<string, long> Instances
);

/// <summary>Operator's request about an instance.</summary>
internal sealed record WorkflowActionBody
{
    public string? Reason { get; init; }

    /// <summary>Of an end: whether completed scopes are undone.</summary>
    public bool Compensate { get; init; }
}

/// <summary>Variables to set; null removes one.</summary>
internal sealed record WorkflowVariablesBody
{
    public JsonObject Variables { get; init; } = [];

    public string? Reason { get; init; }
}
