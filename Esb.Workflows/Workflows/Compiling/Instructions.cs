using Esb.Content.Splitting;
using Esb.Core.Expressions;
using Esb.Core.Processes;
using Esb.Core.Topics;
using Esb.Workflows.Processes.Steps;

namespace Esb.Workflows.Workflows.Compiling;

/// <summary>One instruction of a program: where an instance stands is the number of one. Immutable.</summary>
/// <param name="Place">The id or path of the step, for history and people.</param>
/// <param name="Kind">The kind of the step.</param>
internal abstract record Instruction(string Place, string Kind);

/// <summary>Runs a step as a whole.</summary>
internal sealed record RunInstruction(StepModel Step) : Instruction(Step.Place, Step.Kind)
{
    /// <summary>True if it reaches outside, so that a checkpoint follows.</summary>
    public bool HasEffect { get; init; }
}

internal sealed record BranchInstruction(
    string Place,
    string Kind,
    IReadOnlyList<(IMessageCondition Condition, int Target)> Branches,
    int Otherwise
) : Instruction(Place, Kind);

internal sealed record JumpInstruction(string Place, int Target) : Instruction(Place, "");

/// <summary>Waits for a message with the instance's keys.</summary>
internal sealed record ReceiveInstruction(
    string Place,
    IReadOnlyList<SubjectPattern> Subjects,
    MatchedKeys Match,
    string? As,
    TimeSpan? Timeout,
    int? OnTimeout,
    int Next
) : Instruction(Place, "receive");

/// <summary>Publishes a request, and waits for its reply.</summary>
internal sealed record RequestInstruction(string Place, Subject Subject, TimeSpan Timeout) : Instruction(Place, "request");

internal sealed record CollectInstruction(string Place, CollectFlow Flow) : Instruction(Place, "collect");

internal sealed record DelayInstruction(string Place, DelayFlow Flow) : Instruction(Place, "delay");

internal sealed record CorrelateInstruction(string Place, MatchedKeys Keys) : Instruction(Place, "correlate");

internal sealed record TerminateInstruction(string Place, IMessageValue? Reason) : Instruction(Place, "terminate");

/// <summary>Begins steps whose failures are handled; a scope also remembers that it completed.</summary>
internal sealed record EnterInstruction(
    string Place,
    string Kind,
    IReadOnlyList<(IReadOnlyList<string> Codes, int Target)> Handlers,
    int? Compensate
) : Instruction(Place, Kind)
{
    /// <summary>Where the failure of a code is handled; null if it is not.</summary>
    public int? TargetOf(string code)
    {
        foreach (var (codes, target) in Handlers)
        {
            if (codes.Count == 0 || codes.Any(pattern => CodePattern.Matches(pattern, code)))
                return target;
        }

        return null;
    }
}

/// <summary>Ends what the innermost <see cref="EnterInstruction"/> began.</summary>
internal sealed record LeaveInstruction(string Place) : Instruction(Place, "");

/// <summary>Ends the steps that undo a scope.</summary>
internal sealed record UndoneInstruction(string Place) : Instruction(Place, "compensate");

internal sealed record ForkInstruction(string Place, IReadOnlyList<(string Name, int Target)> Branches, int Join, int Next)
    : Instruction(Place, "parallel");

/// <summary>Ends a branch.</summary>
internal sealed record BranchEndInstruction(string Place) : Instruction(Place, "");

/// <summary>Begins to go through items; the instruction behind it is <see cref="NextItemInstruction"/>.</summary>
internal sealed record ForEachInstruction(string Place, IMessageSplitter Items, string? Of) : Instruction(Place, "forEach");

internal sealed record NextItemInstruction(string Place, int End) : Instruction(Place, "");

internal sealed record ChildInstruction(string Place, string Workflow, bool Waits)
    : Instruction(Place, Waits ? "runWorkflow" : "startWorkflow");

internal sealed record EndInstruction() : Instruction("end", "");
