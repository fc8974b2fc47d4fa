namespace Esb.Audit.Journeys;

/// <summary>A message of a journey, and those that it caused. Immutable.</summary>
public sealed record JourneyMessage
{
    /// <summary>Its id.</summary>
    public required Guid Id { get; init; }

    /// <summary>The message that it was made of, also where nothing is recorded of that one; null where none is known.</summary>
    public Guid? CausedBy { get; init; }

    /// <summary>How <see cref="CausedBy"/> is known.</summary>
    public required JourneyCause Cause { get; init; }

    /// <summary>How it stands.</summary>
    public required JourneyState State { get; init; }

    /// <summary>The subject it was published under last; null where it never was.</summary>
    public string? Subject { get; init; }

    /// <summary>Who sent it.</summary>
    public string? Party { get; init; }

    /// <summary>The trace in which it began, 32 hexadecimal digits.</summary>
    public string? TraceId { get; init; }

    /// <summary>When the first thing that happened to it began.</summary>
    public required DateTimeOffset Started { get; init; }

    /// <summary>From then to the end of the last.</summary>
    public required TimeSpan Duration { get; init; }

    /// <summary>How much of that it was worked on.</summary>
    public required TimeSpan Working { get; init; }

    /// <summary>How much of that it waited.</summary>
    public TimeSpan Waiting => Duration - Working;

    /// <summary>Values lifted from it.</summary>
    public required IReadOnlyDictionary<string, string> Fields { get; init; }

    /// <summary>Where it went, in the order of time.</summary>
    public required IReadOnlyList<JourneyStage> Stages { get; init; }

    /// <summary>The messages made of it, the earliest first.</summary>
    public required IReadOnlyList<JourneyMessage> Caused { get; init; }

    internal IEnumerable<JourneyMessage> WithCaused() => Caused.SelectMany(caused => caused.WithCaused()).Prepend(this);
}

/// <summary>How it is known what a message was made of.</summary>
public enum JourneyCause
{
    /// <summary>It came from outside, as far as is known.</summary>
    None,

    /// <summary>Its facts say so.</summary>
    Recorded,

    /// <summary>Ids, names and times say so.</summary>
    Derived,

    /// <summary>Its facts name a message of which nothing is recorded, or that it caused itself.</summary>
    Unknown,
}
