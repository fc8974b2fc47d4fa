using Esb.Core.Messages;

namespace Esb.Core.Replays;

/// <summary>Where a replay job stands.</summary>
public enum ReplayState
{
    /// <summary>A host works on it, or soon will.</summary>
    Running,

    /// <summary>An operator holds it; it keeps its letters.</summary>
    Paused,

    /// <summary>Too many of its letters came back; it keeps the rest.</summary>
    Stopped,

    /// <summary>All its letters were sent. Some may still come back.</summary>
    Completed,

    /// <summary>An operator ended it; the letters that were not sent are open again.</summary>
    Cancelled,
}

/// <summary>A durable piece of work: letters to be sent again, each to the queue of one endpoint. Immutable; read it again to see how it goes.</summary>
public sealed record ReplayJob
{
    /// <summary>Identifies it: a version 7 UUID, so that jobs sort by time.</summary>
    public required Guid Id { get; init; }

    /// <summary>The command that made it, as the client named it: the same command makes the same job.</summary>
    public required string Command { get; init; }

    /// <summary>The same for every request that asks for the same.</summary>
    public required string Fingerprint { get; init; }

    /// <summary>What was asked for.</summary>
    public required ReplayRequest Request { get; init; }

    /// <summary>Where it stands.</summary>
    public ReplayState State { get; init; }

    /// <summary>When it was made.</summary>
    public required DateTimeOffset CreatedAt { get; init; }

    /// <summary>The operator who made it.</summary>
    public required string CreatedBy { get; init; }

    /// <summary>Why, as the operator says.</summary>
    public string? Reason { get; init; }

    /// <summary>When its state changed last.</summary>
    public DateTimeOffset? ChangedAt { get; init; }

    /// <summary>The operator who changed it; null where the job itself did.</summary>
    public string? ChangedBy { get; init; }

    /// <summary>What is in its way, or why it stopped; null when nothing is.</summary>
    public string? Trouble { get; init; }

    /// <summary>How many letters it has.</summary>
    public long Total { get; init; }

    /// <summary>How many were sent, and confirmed.</summary>
    public long Replayed { get; init; }

    /// <summary>How many of those came back as dead letters.</summary>
    public long Failed { get; init; }

    /// <summary>What <see cref="Replayed"/> was when an operator last let it go on: what went before is not held against it.</summary>
    public long ReplayedBefore { get; init; }

    /// <summary>What <see cref="Failed"/> was then.</summary>
    public long FailedBefore { get; init; }

    /// <summary>The id of the edited message, the same however often it is sent; null where nothing is edited.</summary>
    public Guid? EditedId => Request.Edit is null ? null : MessageIds.Derive(Id, "edited");

    /// <summary>Whether nothing can change it any more.</summary>
    public bool IsOver => State is ReplayState.Completed or ReplayState.Cancelled;
}
