using Esb.Core.Audit;

namespace Esb.Audit.Journeys;

/// <summary>The way of a message and of the others of its conversation, as the audit recorded it (pattern: Message History).
/// Immutable.</summary>
public sealed record Journey
{
    /// <summary>The most facts that a journey is made of.</summary>
    public const int MaxFacts = 10_000;

    /// <summary>The message that was asked for.</summary>
    public required Guid MessageId { get; init; }

    /// <summary>Its conversations: one, mostly.</summary>
    public required IReadOnlyList<Guid> Conversations { get; init; }

    /// <summary>How it stands: the state of the message that wants most attention.</summary>
    public required JourneyState State { get; init; }

    /// <summary>When the first thing began.</summary>
    public required DateTimeOffset Started { get; init; }

    /// <summary>From the first thing to the end of the last, clocks made even.</summary>
    public required TimeSpan Duration { get; init; }

    /// <summary>How much of that something was worked on.</summary>
    public required TimeSpan Working { get; init; }

    /// <summary>How much of that everything waited: in queues, between attempts, for operators.</summary>
    public TimeSpan Waiting => Duration - Working;

    /// <summary>How many facts it is made of.</summary>
    public required int Facts { get; init; }

    /// <summary>The hosts on which it happened, by name; empty where facts name none.</summary>
    public required IReadOnlyList<JourneyHost> Hosts { get; init; }

    /// <summary>The messages that no other is known to have caused, the earliest first.</summary>
    public required IReadOnlyList<JourneyMessage> Roots { get; init; }

    /// <summary>What is not shown, or had to be guessed, in sentences.</summary>
    public required IReadOnlyList<string> Remarks { get; init; }

    /// <summary>All messages, each before those that it caused.</summary>
    public IEnumerable<JourneyMessage> Messages => Roots.SelectMany(root => root.WithCaused());

    /// <summary>The facts that it is made of, the oldest first.</summary>
    public IEnumerable<AuditFact> AllFacts =>
        Messages
            .SelectMany(message => message.Stages)
            .SelectMany(stage => stage.Events)
            .Select(happened => happened.Fact)
            .OrderBy(fact => fact.Id);
}

/// <summary>A host of a journey.</summary>
/// <param name="Name">Its machine and process.</param>
/// <param name="Revisions">The configurations that it ran.</param>
/// <param name="ClockBehind">How far its clock is behind, at the least, as far as the order of what happened shows; zero mostly.</param>
public sealed record JourneyHost(string Name, IReadOnlyList<string> Revisions, TimeSpan ClockBehind);
