namespace Esb.Audit.Journeys.Drawing;

/// <summary>A journey as participants and arrows, in time order; shared by all drawing formats.</summary>
/// <param name="Summary">One line about the whole.</param>
/// <param name="Participants">From left to right.</param>
/// <param name="Arrows">From top to bottom.</param>
/// <param name="Remarks">Remarks about omitted or guessed content.</param>
internal sealed record SequenceDiagram(
    string Summary,
    IReadOnlyList<Participant> Participants,
    IReadOnlyList<Arrow> Arrows,
    IReadOnlyList<string> Remarks
);

/// <summary>A participant with a lifeline.</summary>
/// <param name="Kind">Its kind.</param>
/// <param name="Name">Its name.</param>
/// <param name="Hosts">The hosts on which it acted; empty if unknown or not collected for this kind.</param>
internal sealed record Participant(ParticipantKind Kind, string Name, IReadOnlyList<string> Hosts);

/// <summary>Kinds of participants, from left to right.</summary>
internal enum ParticipantKind
{
    /// <summary>The external sender of a message.</summary>
    Sender,

    /// <summary>An inbound endpoint.</summary>
    Entry,

    /// <summary>A process.</summary>
    Process,

    /// <summary>A topic.</summary>
    Topic,

    /// <summary>An endpoint that delivers.</summary>
    Endpoint,

    /// <summary>All participants beyond the maximum.</summary>
    Others,

    /// <summary>The store of dead letters.</summary>
    DeadLetters,

    /// <summary>The operator that handles dead letters.</summary>
    Operator,
}

/// <summary>An event between two participants, or at one.</summary>
/// <param name="From">The index of the acting participant.</param>
/// <param name="To">The index of the other participant; <paramref name="From"/> if only one takes part.</param>
/// <param name="Line">The style of the line.</param>
/// <param name="At">The time since the start of the journey.</param>
/// <param name="Text">The label.</param>
internal sealed record Arrow(int From, int To, ArrowLine Line, TimeSpan At, string Text);

/// <summary>Styles of arrows.</summary>
internal enum ArrowLine
{
    /// <summary>A successful action.</summary>
    Solid,

    /// <summary>A reply.</summary>
    Dashed,

    /// <summary>A failed action.</summary>
    Failed,
}
