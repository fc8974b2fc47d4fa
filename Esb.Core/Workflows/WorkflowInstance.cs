using System.Collections.ObjectModel;

namespace Esb.Core.Workflows;

/// <summary>State of an instance.</summary>
public enum WorkflowState
{
    /// <summary>A host works on it.</summary>
    Running,

    /// <summary>It waits for a message, a time, a repetition or another instance.</summary>
    Waiting,

    /// <summary>A failure stopped it; an operator decides.</summary>
    Suspended,

    /// <summary>It reached its end.</summary>
    Completed,

    /// <summary>A step, or an operator, ended it.</summary>
    Terminated,

    /// <summary>It undoes the scopes that it has completed.</summary>
    Compensating,

    /// <summary>It has ended and undone its scopes.</summary>
    Compensated,

    /// <summary>A step that undoes a scope failed: an operator has to act.</summary>
    CompensationFailed,
}

/// <summary>An instance of a workflow as it is stored: its place and its variables. Immutable.</summary>
public sealed record WorkflowInstance
{
    /// <summary>Identifies it: a version 7 UUID that follows from the message that started it.</summary>
    public required Guid Id { get; init; }

    /// <summary>The workflow.</summary>
    public required string Workflow { get; init; }

    /// <summary>Hash of the definition with which it began.</summary>
    public required string Definition { get; init; }

    /// <summary>Number of its checkpoints, from 1; every change of the instance is one.</summary>
    public required int Version { get; init; }

    /// <summary>Its state.</summary>
    public required WorkflowState State { get; init; }

    /// <summary>The steps at which it stands, separated by commas; empty after its end.</summary>
    public string Step { get; init; } = "";

    /// <summary>Place and variables.</summary>
    public ReadOnlyMemory<byte> Snapshot { get; init; }

    /// <summary>The large values to which the snapshot refers, by their names. Empty in lists.</summary>
    public IReadOnlyDictionary<string, ReadOnlyMemory<byte>> LargeValues { get; init; } =
        ReadOnlyDictionary<string, ReadOnlyMemory<byte>>.Empty;

    /// <summary>Its business keys, for searches: <c>name=value</c>, separated by line feeds.</summary>
    public string Keys { get; init; } = "";

    /// <summary>The message that started it.</summary>
    public required Guid StartedBy { get; init; }

    /// <summary>The conversation of that message.</summary>
    public required Guid ConversationId { get; init; }

    /// <summary>The instance that runs it and waits for its end; null if none.</summary>
    public Guid? Parent { get; init; }

    /// <summary>Code of the failure that stopped it; null if none.</summary>
    public string? Code { get; init; }

    /// <summary>Text of that failure, or of its end.</summary>
    public string? Reason { get; init; }

    /// <summary>When it started, by the clock of the store.</summary>
    public DateTimeOffset StartedAt { get; init; }

    /// <summary>When it changed last, by the clock of the store.</summary>
    public DateTimeOffset ChangedAt { get; init; }

    /// <summary>True if it has ended.</summary>
    public bool IsEnded => HasEnded(State);

    /// <summary>True for a state that is an end.</summary>
    public static bool HasEnded(WorkflowState state) =>
        state is WorkflowState.Completed or WorkflowState.Terminated or WorkflowState.Compensated;
}

/// <summary>A line of an instance's history: everything since the checkpoint before.</summary>
/// <param name="Instance">The instance.</param>
/// <param name="Version">The checkpoint, from 1, without gaps.</param>
/// <param name="At">Its time, by the clock of the store.</param>
/// <param name="State">The state after it.</param>
/// <param name="Steps">The steps, as JSON: an array of objects with <c>step</c>, <c>kind</c>, <c>ms</c>, and <c>note</c> or
/// <c>code</c>.</param>
public sealed record WorkflowEvent(Guid Instance, int Version, DateTimeOffset At, WorkflowState State, string Steps);
