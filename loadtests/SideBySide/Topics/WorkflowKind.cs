namespace SideBySide.Topics;

/// <summary>A workflow of <c>loadtests/compare.d/workflows</c>, started by messages of the subject <c>in.NAME</c>.</summary>
/// <param name="Name">Of the workflow.</param>
/// <param name="Title">As it stands in tables.</param>
internal sealed record WorkflowKind(string Name, string Title)
{
    /// <summary>Messages that an instance takes, all of one order.</summary>
    public int MessagesForEach { get; init; } = 1;

    /// <summary>Messages that an instance publishes, those of what it starts included.</summary>
    public int PublishedByEach { get; init; } = 1;

    /// <summary>How long an instance waits by definition: that is no work.</summary>
    public TimeSpan Waits { get; init; }

    /// <summary>Whether the rate is that of messages, not of instances.</summary>
    public bool CountsMessages { get; init; }
}
