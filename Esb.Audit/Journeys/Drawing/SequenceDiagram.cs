namespace Esb.Audit.Journeys.Drawing;

/// <summary>A journey as who did what to whom, in the order of time: what every way of drawing it shares.</summary>
/// <param name="Summary">One line about the whole.</param>
/// <param name="Participants">From left to right.</param>
/// <param name="Arrows">From top to bottom.</param>
/// <param name="Remarks">What is not shown, or had to be guessed.</param>
internal sealed record SequenceDiagram(string Summary, IReadOnlyList<Participant> Participants, IReadOnlyList<Arrow> Arrows, IReadOnlyList<string> Remarks);

/// <summary>Somebody with a lifeline.</summary>
/// <param name="Kind">Who.</param>
/// <param name="Name">Its name.</param>
/// <param name="Hosts">Where it did something; empty where nothing tells, or nobody asks.</param>
internal sealed record Participant(ParticipantKind Kind, string Name, IReadOnlyList<string> Hosts);

/// <summary>Sorts of participants, from left to right.</summary>
internal enum ParticipantKind
{
    /// <summary>Who sent a message from outside.</summary>
    Sender,

    /// <summary>An inbound endpoint.</summary>
    Entry,

    /// <summary>A process.</summary>
    Process,

    /// <summary>A topic.</summary>
    Topic,

    /// <summary>An endpoint that delivers.</summary>
    Endpoint,

    /// <summary>Everybody for whom there is no room.</summary>
    Others,

    /// <summary>Where messages are kept that were given up.</summary>
    DeadLetters,

    /// <summary>Who decides about those.</summary>
    Operator,
}

/// <summary>Something that happened between two participants, or to one.</summary>
/// <param name="From">The index of who did it.</param>
/// <param name="To">The index of whom it was done to; the same where nobody else took part.</param>
/// <param name="Line">How it is drawn.</param>
/// <param name="At">When, since the journey began.</param>
/// <param name="Text">What.</param>
internal sealed record Arrow(int From, int To, ArrowLine Line, TimeSpan At, string Text);

/// <summary>Ways to draw an arrow.</summary>
internal enum ArrowLine
{
    /// <summary>Something that went well.</summary>
    Solid,

    /// <summary>An answer.</summary>
    Dashed,

    /// <summary>Something that failed.</summary>
    Failed,
}
