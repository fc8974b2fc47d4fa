using Esb.Content.Splitting;
using Esb.Core.Expressions;
using Esb.Core.Processes;
using Esb.Core.Topics;

namespace Esb.Workflows.Workflows.Compiling;

/// <summary>Runs one of several lists.</summary>
internal sealed record ChooseFlow(IReadOnlyList<(IMessageCondition? Condition, StepListModel Steps)> Branches, StepListModel Otherwise)
    : StepFlow;

/// <summary>Runs steps, and others when they fail.</summary>
internal sealed record TryFlow(StepListModel Steps, IReadOnlyList<(IReadOnlyList<string> Codes, StepListModel Steps)> Handlers) : StepFlow;

/// <summary>Waits for a message.</summary>
internal sealed record ReceiveFlow(
    IReadOnlyList<SubjectPattern> Subjects,
    MatchedKeys Match,
    string? As,
    TimeSpan? Timeout,
    StepListModel? OnTimeout
) : StepFlow
{
    public override bool IsDurable => true;
}

/// <summary>Asks, and waits for the reply. Inside of a step that runs as a whole it waits in memory.</summary>
internal sealed record RequestFlow(Subject Subject, TimeSpan Timeout) : StepFlow;

/// <summary>Waits for several messages.</summary>
internal sealed record CollectFlow(
    IReadOnlyList<SubjectPattern> Subjects,
    MatchedKeys Match,
    string? As,
    int? Count,
    TimeSpan? Idle,
    TimeSpan? Within,
    IMessageCondition? If
) : StepFlow
{
    public override bool IsDurable => true;
}

/// <summary>Waits for a time.</summary>
internal sealed record DelayFlow(TimeSpan? For, IMessageValue? Until) : StepFlow
{
    public override bool IsDurable => true;
}

/// <summary>Adds business keys.</summary>
internal sealed record CorrelateFlow(MatchedKeys Keys) : StepFlow
{
    public override bool IsDurable => true;
}

/// <summary>Ends the instance.</summary>
internal sealed record TerminateFlow(IMessageValue? Reason) : StepFlow
{
    public override bool IsDurable => true;
}

/// <summary>Runs steps that are undone together.</summary>
internal sealed record ScopeFlow(
    StepListModel Steps,
    IReadOnlyList<(IReadOnlyList<string> Codes, StepListModel Steps)> Handlers,
    StepListModel? Compensate
) : StepFlow
{
    public override bool IsDurable => true;
}

/// <summary>Runs branches side by side.</summary>
internal sealed record ParallelFlow(IReadOnlyList<(string Name, StepListModel Steps)> Branches, int Join) : StepFlow
{
    public override bool IsDurable => true;
}

/// <summary>Repeats steps.</summary>
internal sealed record RepeatFlow(IMessageCondition? While, StepListModel Steps) : StepFlow
{
    /// <summary>True if its condition holds whatever the message and the variables are.</summary>
    public bool IsEndless { get; init; }

    public override bool IsDurable => true;
}

/// <summary>Runs steps with each item.</summary>
internal sealed record ForEachFlow(IMessageSplitter? Items, string? Of, StepListModel Steps) : StepFlow
{
    public override bool IsDurable => true;
}

/// <summary>Starts another workflow, and perhaps waits for its end.</summary>
internal sealed record ChildFlow(string Workflow, bool Waits) : StepFlow
{
    public override bool IsDurable => true;
}
