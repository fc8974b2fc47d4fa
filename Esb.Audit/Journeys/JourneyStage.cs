namespace Esb.Audit.Journeys;

/// <summary>A place to which a message of a journey came, and all that happened to it there. Immutable.</summary>
public sealed record JourneyStage
{
    /// <summary>What sort of place.</summary>
    public required JourneyStageKind Kind { get; init; }

    /// <summary>The endpoint; null inside a process that nobody entered by one.</summary>
    public string? Endpoint { get; init; }

    /// <summary>The process.</summary>
    public string? Process { get; init; }

    /// <summary>How it stands there.</summary>
    public required JourneyState State { get; init; }

    /// <summary>When it came there; of a publication, when it was begun.</summary>
    public required DateTimeOffset Started { get; init; }

    /// <summary>From then to the end of the last thing that happened there.</summary>
    public required TimeSpan Duration { get; init; }

    /// <summary>Where it was sent instead: an endpoint or a message, as an operator decided.</summary>
    public string? ReplayedAs { get; init; }

    /// <summary>What happened, in the order of time; never empty.</summary>
    public required IReadOnlyList<JourneyEvent> Events { get; init; }
}

/// <summary>Sorts of places.</summary>
public enum JourneyStageKind
{
    /// <summary>An inbound endpoint, with the process behind it.</summary>
    Entry,

    /// <summary>A topic.</summary>
    Publication,

    /// <summary>An endpoint that a process called, past all topics.</summary>
    Call,

    /// <summary>An outbound endpoint that a topic led to.</summary>
    Delivery,
}
