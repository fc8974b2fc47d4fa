namespace Esb.Audit.Journeys;

/// <summary>How a message stands, as far as it is recorded. The later ones want more attention.</summary>
public enum JourneyState
{
    /// <summary>It came in.</summary>
    Received,

    /// <summary>A filter ended its way.</summary>
    Filtered,

    /// <summary>Its process came to its end, with nothing to publish and nobody who waited.</summary>
    Completed,

    /// <summary>It was recognised as one that had been handled before.</summary>
    Duplicate,

    /// <summary>It was given up here, and an operator had it sent to another endpoint, or edited.</summary>
    Replayed,

    /// <summary>It was delivered.</summary>
    Delivered,

    /// <summary>It was answered.</summary>
    Replied,

    /// <summary>It was worked on, but its answer found nobody who waited for it any more.</summary>
    Abandoned,

    /// <summary>A topic has it; nothing is recorded of an endpoint that took it.</summary>
    Published,

    /// <summary>Nobody waited for its answer any more, so nothing was done.</summary>
    Expired,

    /// <summary>It was given up and dropped.</summary>
    Discarded,

    /// <summary>It was refused.</summary>
    Refused,

    /// <summary>Its sender hung up, or the host stopped.</summary>
    Aborted,

    /// <summary>It failed, or was sent again, and has not been tried since.</summary>
    UnderWay,

    /// <summary>It waits in a line, for the one before it or for an operator.</summary>
    Parked,

    /// <summary>It failed for good, or was answered with a fault.</summary>
    Failed,

    /// <summary>It was given up and kept.</summary>
    DeadLettered,
}
