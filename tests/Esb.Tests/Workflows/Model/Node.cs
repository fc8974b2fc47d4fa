namespace Esb.Tests.Workflows.Model;

/// <summary>A step of a workflow of random shape. Its number makes its id, subject and code its own.</summary>
internal abstract record Node
{
    public int Number { get; init; }
}

/// <summary>Publishes a message.</summary>
internal sealed record PublishNode : Node;

/// <summary>Waits for a message, which comes or never does.</summary>
internal sealed record ReceiveNode(bool Comes) : Node;

/// <summary>Waits for several messages.</summary>
internal sealed record CollectNode(int Count) : Node;

/// <summary>Ways in which a request ends.</summary>
internal enum Answer
{
    Reply,
    Fault,
    None,
}

/// <summary>Asks, and waits for the reply.</summary>
internal sealed record AskNode(Answer Answer) : Node;

/// <summary>Runs one of two lists.</summary>
internal sealed record ChooseNode(bool Holds, IReadOnlyList<Node> Then, IReadOnlyList<Node> Otherwise) : Node;

/// <summary>Runs a list with each of some items.</summary>
internal sealed record LoopNode(int Items, IReadOnlyList<Node> Steps) : Node;

/// <summary>Runs lists side by side. Where one of them never ends, the others are enough.</summary>
internal sealed record ParallelNode(bool HasEndless, IReadOnlyList<IReadOnlyList<Node>> Branches) : Node
{
    /// <summary>The wait of the branch that never ends.</summary>
    public ReceiveNode Endless { get; init; } = new(Comes: false);
}

/// <summary>Runs a list, and another where it fails.</summary>
/// <param name="IsScope">True for a scope, false for a try.</param>
/// <param name="Steps">The list.</param>
/// <param name="CatchesAll">False if it catches the failures of requests only.</param>
/// <param name="Catch">Runs where a failure is caught; null for a scope without.</param>
/// <param name="Compensate">Undoes it after it has completed; null if nothing does.</param>
internal sealed record GuardNode(
    bool IsScope,
    IReadOnlyList<Node> Steps,
    bool CatchesAll,
    IReadOnlyList<Node>? Catch,
    IReadOnlyList<Node>? Compensate
) : Node;

/// <summary>Fails.</summary>
internal sealed record FailNode : Node;

/// <summary>Starts another workflow, and perhaps waits for its end.</summary>
internal sealed record ChildNode(bool Waits) : Node;

/// <summary>Answers the caller.</summary>
internal sealed record RespondNode : Node;

/// <summary>Ends the instance.</summary>
internal sealed record TerminateNode : Node;

/// <summary>A workflow of random shape, and what happens around it.</summary>
/// <param name="Steps">Its steps.</param>
/// <param name="Shuffle">Seed of the order in which messages come.</param>
/// <param name="Crashes">The commits at which one life after the other ends, as shares of their number, and whether they are stored.</param>
internal sealed record Shape(IReadOnlyList<Node> Steps, int Shuffle, IReadOnlyList<(int Share, bool IsStored)> Crashes);
