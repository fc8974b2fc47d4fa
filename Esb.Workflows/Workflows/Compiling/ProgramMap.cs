using Esb.Core.Workflows;

namespace Esb.Workflows.Workflows.Compiling;

/// <summary>The steps of a program and their followers, for people.</summary>
internal static class ProgramMap
{
    public static IReadOnlyList<WorkflowPlace> Of(IReadOnlyList<Instruction> instructions)
    {
        var places = new List<WorkflowPlace>();
        for (var at = 0; at < instructions.Count; at++)
        {
            var instruction = instructions[at];
            if (!IsShown(instruction))
                continue;
            var next = Followers(instruction, at).SelectMany(follower => ShownFrom(instructions, follower, [])).Distinct().ToList();
            places.Add(new WorkflowPlace(instruction.Place, instruction is EndInstruction ? "end" : instruction.Kind, next));
        }

        return
        [
            .. places
                .GroupBy(place => place.Place)
                .Select(twins =>
                    twins.First() with
                    {
                        Next = [.. twins.SelectMany(twin => twin.Next).Distinct().Where(next => next != twins.Key)],
                    }
                ),
        ];
    }

    private static bool IsShown(Instruction instruction) => instruction.Kind.Length > 0 || instruction is EndInstruction;

    // What runs without being a step, such as the end of a branch, is passed over.
    private static IEnumerable<string> ShownFrom(IReadOnlyList<Instruction> instructions, int at, HashSet<int> seen)
    {
        if (at < 0 || at >= instructions.Count || !seen.Add(at))
            return [];
        var instruction = instructions[at];
        return IsShown(instruction)
            ? [instruction.Place]
            : Followers(instruction, at).SelectMany(follower => ShownFrom(instructions, follower, seen));
    }

    private static IEnumerable<int> Followers(Instruction instruction, int at) =>
        instruction switch
        {
            EndInstruction or TerminateInstruction or UndoneInstruction or BranchEndInstruction => [],
            JumpInstruction jump => [jump.Target],
            BranchInstruction branch => [.. branch.Branches.Select(candidate => candidate.Target), branch.Otherwise],
            ReceiveInstruction { OnTimeout: { } late } receive => [receive.Next, late],
            ReceiveInstruction receive => [receive.Next],
            EnterInstruction enter =>
            [
                at + 1,
                .. enter.Handlers.Select(handler => handler.Target),
                .. enter.Compensate is { } undo ? new[] { undo } : [],
            ],
            ForkInstruction fork => [.. fork.Branches.Select(branch => branch.Target), fork.Next],
            NextItemInstruction next => [at + 1, next.End],
            _ => [at + 1],
        };
}
