namespace Esb.Audit.Journeys;

/// <summary>A place that a message of a journey reached, and its events there. Immutable.</summary>
public sealed record JourneyStage
{
    /// <summary>The kind of place.</summary>
    public required JourneyStageKind Kind { get; init; }

    /// <summary>The endpoint; null in a process that was not entered through an endpoint.</summary>
    public string? Endpoint { get; init; }

    /// <summary>The process.</summary>
    public string? Process { get; init; }

    /// <summary>The state of the message at this place.</summary>
    public required JourneyState State { get; init; }

    /// <summary>The time of arrival; for a publication, its start.</summary>
    public required DateTimeOffset Started { get; init; }

    /// <summary>The time from <see cref="Started"/> to the end of the last event at this place.</summary>
    public required TimeSpan Duration { get; init; }

    /// <summary>The endpoint or message to which an operator redirected it.</summary>
    public string? ReplayedAs { get; init; }

    /// <summary>The events, in time order; never empty.</summary>
    public required IReadOnlyList<JourneyEvent> Events { get; init; }
}

/// <summary>Kinds of places.</summary>
public enum JourneyStageKind
{
    /// <summary>An inbound endpoint, with the process behind it.</summary>
    Entry,

    /// <summary>A topic.</summary>
    Publication,

    /// <summary>An endpoint that a process called directly, without a topic.</summary>
    Call,

    /// <summary>An outbound endpoint that a topic led to.</summary>
    Delivery,
}
