using Esb.Core.Messages;

namespace Esb.Core.Replays;

/// <summary>State of a replay job.</summary>
public enum ReplayState
{
    /// <summary>A host works on it, or will soon.</summary>
    Running,

    /// <summary>An operator paused it; it keeps its letters.</summary>
    Paused,

    /// <summary>Too many of its letters failed again; it keeps the rest.</summary>
    Stopped,

    /// <summary>All its letters were sent. Some may still fail again.</summary>
    Completed,

    /// <summary>An operator cancelled it; unsent letters are open again.</summary>
    Cancelled,
}

/// <summary>A durable job: letters to be replayed, each to the queue of one endpoint. Immutable; read it again to see its
/// progress.</summary>
public sealed record ReplayJob
{
    /// <summary>Identifies it: a version 7 UUID, so that jobs sort by time.</summary>
    public required Guid Id { get; init; }

    /// <summary>The creating command, as named by the client: the same command yields the same job.</summary>
    public required string Command { get; init; }

    /// <summary>Equal for equal requests.</summary>
    public required string Fingerprint { get; init; }

    /// <summary>The request.</summary>
    public required ReplayRequest Request { get; init; }

    /// <summary>Its state.</summary>
    public ReplayState State { get; init; }

    /// <summary>Time of creation.</summary>
    public required DateTimeOffset CreatedAt { get; init; }

    /// <summary>The operator that created it.</summary>
    public required string CreatedBy { get; init; }

    /// <summary>The reason given by the operator.</summary>
    public string? Reason { get; init; }

    /// <summary>Time of the last change of state.</summary>
    public DateTimeOffset? ChangedAt { get; init; }

    /// <summary>The operator that changed the state; null if the job changed it itself.</summary>
    public string? ChangedBy { get; init; }

    /// <summary>Current obstacle, or reason why it stopped; null if none.</summary>
    public string? Trouble { get; init; }

    /// <summary>Number of its letters.</summary>
    public long Total { get; init; }

    /// <summary>Number of letters sent and confirmed.</summary>
    public long Replayed { get; init; }

    /// <summary>Number of sent letters that failed again.</summary>
    public long Failed { get; init; }

    /// <summary>Value of <see cref="Replayed"/> when an operator last resumed it: earlier letters are not counted against it.</summary>
    public long ReplayedBefore { get; init; }

    /// <summary>Value of <see cref="Failed"/> at that time.</summary>
    public long FailedBefore { get; init; }

    /// <summary>Id of the edited message, equal each time it is sent; null if nothing is edited.</summary>
    public Guid? EditedId => Request.Edit is null ? null : MessageIds.Derive(Id, "edited");

    /// <summary>True if it has ended and cannot change any more.</summary>
    public bool IsOver => State is ReplayState.Completed or ReplayState.Cancelled;
}
