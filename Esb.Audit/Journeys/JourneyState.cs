namespace Esb.Audit.Journeys;

/// <summary>The recorded state of a message. Later values need more attention.</summary>
public enum JourneyState
{
    /// <summary>It was received.</summary>
    Received,

    /// <summary>A filter stopped it.</summary>
    Filtered,

    /// <summary>Its process ended with nothing to publish and no waiting caller.</summary>
    Completed,

    /// <summary>It was recognised as a duplicate of a processed message.</summary>
    Duplicate,

    /// <summary>It was given up here; an operator then edited it or redirected it to another endpoint.</summary>
    Replayed,

    /// <summary>It was delivered.</summary>
    Delivered,

    /// <summary>It was answered.</summary>
    Replied,

    /// <summary>It was processed, but its caller no longer waited for the reply.</summary>
    Abandoned,

    /// <summary>It was published to a topic; no endpoint is recorded as having taken it.</summary>
    Published,

    /// <summary>It was not processed, because its caller no longer waited for the reply.</summary>
    Expired,

    /// <summary>It was given up and dropped.</summary>
    Discarded,

    /// <summary>It was refused.</summary>
    Refused,

    /// <summary>Its sender disconnected, or the host stopped.</summary>
    Aborted,

    /// <summary>It failed or was replayed, and has not been attempted since.</summary>
    UnderWay,

    /// <summary>It is parked, behind an earlier message or for an operator.</summary>
    Parked,

    /// <summary>It failed permanently, or was answered with a fault.</summary>
    Failed,

    /// <summary>It was given up and kept.</summary>
    DeadLettered,
}
