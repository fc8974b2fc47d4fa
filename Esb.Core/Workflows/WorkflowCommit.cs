using Esb.Core.Messages;
using Esb.Core.Storage;

namespace Esb.Core.Workflows;

/// <summary>A checkpoint: everything that one change of an instance stores, all or nothing. Also the change of a message that finds no
/// instance. Immutable.</summary>
public sealed record WorkflowCommit
{
    /// <summary>The workflow.</summary>
    public required string Workflow { get; init; }

    /// <summary>The instance after the change; version 1 is a new one, any other replaces the version before. Null if no instance
    /// changes.</summary>
    public WorkflowInstance? Instance { get; init; }

    /// <summary>The state of the instance before the change; null for a new one.</summary>
    public WorkflowState? Before { get; init; }

    /// <summary>Names of the instance's large values that are not stored yet.</summary>
    public IReadOnlyCollection<string> NewValues { get; init; } = [];

    /// <summary>Names of stored large values to which the snapshot no longer refers.</summary>
    public IReadOnlyCollection<string> UnusedValues { get; init; } = [];

    /// <summary>Steps since the checkpoint before, as JSON.</summary>
    public string Steps { get; init; } = "[]";

    /// <summary>The message whose effect this is: it must not be known yet. Null if none.</summary>
    public Guid? Inbox { get; init; }

    /// <summary>An early message that the instance takes, or that leaves: it must still be there. Null if none.</summary>
    public Guid? Taken { get; init; }

    /// <summary>A timer that fired: it must still be there. Null if none.</summary>
    public Guid? Fired { get; init; }

    /// <summary>Business keys that the instance gets.</summary>
    public IReadOnlyList<WorkflowKey> Keys { get; init; } = [];

    /// <summary>Waits that begin.</summary>
    public IReadOnlyList<WorkflowWait> Waits { get; init; } = [];

    /// <summary>Numbers of waits that end.</summary>
    public IReadOnlyList<int> EndedWaits { get; init; } = [];

    /// <summary>True if all waits of the instance end.</summary>
    public bool EndsAllWaits { get; init; }

    /// <summary>Timers that begin; one with the id of another replaces it.</summary>
    public IReadOnlyList<StoredTimer> Timers { get; init; } = [];

    /// <summary>Timers that end, if they are still there.</summary>
    public IReadOnlyList<Guid> EndedTimers { get; init; } = [];

    /// <summary>Messages to publish, in their order.</summary>
    public IReadOnlyList<OutboxMessage> Outgoing { get; init; } = [];

    /// <summary>A message that no instance takes yet; null if none.</summary>
    public EarlyMessage? Early { get; init; }

    /// <summary>A message to forget, so that a replay of it counts as new; null if none.</summary>
    public Guid? Forgotten { get; init; }
}

/// <summary>A business key of an instance.</summary>
/// <param name="Hash">Hash of workflow, names and values.</param>
/// <param name="IsExclusive">True if no other living instance may have it as an exclusive key.</param>
public sealed record WorkflowKey(string Hash, bool IsExclusive);

/// <summary>A wait of an instance for a message.</summary>
/// <param name="Number">Number of the wait in its instance.</param>
/// <param name="Hash">Hash of workflow, subjects, names and values.</param>
public sealed record WorkflowWait(int Number, string Hash);

/// <summary>A message for which no instance waits yet.</summary>
/// <param name="Message">The message.</param>
/// <param name="Matches">For each wait that would take it: the hash of the wait, and the hash of its business key.</param>
/// <param name="MayStart">True if it starts an instance where none with its keys lives any more.</param>
public sealed record EarlyMessage(EsbMessage Message, IReadOnlyList<(string Wait, string Key)> Matches, bool MayStart);

/// <summary>What became of a checkpoint.</summary>
public enum CommitOutcome
{
    /// <summary>It is stored.</summary>
    Committed,

    /// <summary>The message is known: nothing is stored.</summary>
    Duplicate,

    /// <summary>The instance has changed meanwhile, or exists already: nothing is stored.</summary>
    Stale,

    /// <summary>Another living instance has the exclusive key: nothing is stored.</summary>
    Occupied,

    /// <summary>The early message, or the timer, is gone: nothing is stored.</summary>
    Gone,
}

/// <summary>The result of a checkpoint.</summary>
/// <param name="Outcome">What became of it.</param>
public sealed record CommitResult(CommitOutcome Outcome)
{
    /// <summary>Stored, and nothing is to be done about it.</summary>
    public static readonly CommitResult Committed = new(CommitOutcome.Committed);

    /// <summary>Early messages for the waits that began, oldest first.</summary>
    public IReadOnlyList<(int Wait, Guid Message)> Early { get; init; } = [];

    /// <summary>True if an instance waits for the early message that was stored.</summary>
    public bool IsAwaited { get; init; }

    /// <summary>Early messages that can start a new instance, because this one has ended.</summary>
    public IReadOnlyList<Guid> Starting { get; init; } = [];

    /// <summary>Early messages that nobody takes any more, because this instance has ended; they are removed.</summary>
    public IReadOnlyList<EsbMessage> Late { get; init; } = [];

    /// <summary>True if earlier messages of the instance were not published when this was stored: the messages of this one follow
    /// them.</summary>
    public bool FollowsUnpublished { get; init; }
}
