namespace Esb.Audit.Journeys;

/// <summary>A message of a journey, and the messages that it caused. Immutable.</summary>
public sealed record JourneyMessage
{
    /// <summary>Its id.</summary>
    public required Guid Id { get; init; }

    /// <summary>The message that caused this one, even if no facts of it are recorded; null if unknown.</summary>
    public Guid? CausedBy { get; init; }

    /// <summary>The source of <see cref="CausedBy"/>.</summary>
    public required JourneyCause Cause { get; init; }

    /// <summary>Its state.</summary>
    public required JourneyState State { get; init; }

    /// <summary>The subject of its last publication; null if it was never published.</summary>
    public string? Subject { get; init; }

    /// <summary>The sender.</summary>
    public string? Party { get; init; }

    /// <summary>The trace in which it began, 32 hexadecimal digits.</summary>
    public string? TraceId { get; init; }

    /// <summary>The start of its first event.</summary>
    public required DateTimeOffset Started { get; init; }

    /// <summary>The time from <see cref="Started"/> to the end of its last event.</summary>
    public required TimeSpan Duration { get; init; }

    /// <summary>The part of <see cref="Duration"/> in which it was processed.</summary>
    public required TimeSpan Working { get; init; }

    /// <summary>The part of <see cref="Duration"/> in which it waited.</summary>
    public TimeSpan Waiting => Duration - Working;

    /// <summary>Values extracted from it.</summary>
    public required IReadOnlyDictionary<string, string> Fields { get; init; }

    /// <summary>The places that it reached, in time order.</summary>
    public required IReadOnlyList<JourneyStage> Stages { get; init; }

    /// <summary>The messages that it caused, the earliest first.</summary>
    public required IReadOnlyList<JourneyMessage> Caused { get; init; }

    internal IEnumerable<JourneyMessage> WithCaused() => Caused.SelectMany(caused => caused.WithCaused()).Prepend(this);
}

/// <summary>Sources of the cause of a message.</summary>
public enum JourneyCause
{
    /// <summary>The message came from an external system, as far as is known.</summary>
    None,

    /// <summary>The cause is recorded in its facts.</summary>
    Recorded,

    /// <summary>The cause is derived from ids, names and times.</summary>
    Derived,

    /// <summary>The recorded cause has no facts, or was itself caused by this message.</summary>
    Unknown,
}
