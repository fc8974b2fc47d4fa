using Esb.Core.Configuration;
using Esb.Core.Processes;
using Esb.Core.Topics;

namespace Esb.Workflows.Workflows.Compiling;

/// <summary>Rejects steps of one workflow that cannot be told apart, or cannot work together.</summary>
internal static class WorkflowChecks
{
    public static void Check(IReadOnlyList<StepModel> steps, ConfigErrors errors)
    {
        foreach (
            var twins in steps
                .Where(step => step.Id is not null)
                .GroupBy(step => step.Id!.Replace('_', '-'), StringComparer.OrdinalIgnoreCase)
                .Where(group => group.Count() > 1)
        )
        {
            var second = twins.Last();
            errors.Add(
                "ESB-CFG-DUPNAME",
                second.Path,
                $"ids must differ in more than case, - and _; \"{second.Id}\" is that of "
                    + $"{string.Join(" and ", twins.Select(step => step.Path))}",
                second.Origin
            );
        }

        foreach (var parallel in steps.Where(step => step.Flow is ParallelFlow))
            CheckBranches(parallel, errors);
    }

    // Of two branches that wait for the same message only one would get it, and nobody could say which.
    private static void CheckBranches(StepModel parallel, ConfigErrors errors)
    {
        var seen = new List<Wait>();
        foreach (var branch in parallel.Lists)
        {
            var waits = branch.Descend().SelectMany(WaitsOf).ToList();
            foreach (var wait in waits)
            {
                if (seen.Find(wait.IsLike) is { } other)
                    errors.Add(
                        "ESB-WFL-AMBIGUOUS",
                        wait.Step.Path,
                        $"waits for the same subject and keys as {other.Step.Place} in another branch",
                        wait.Step.Origin
                    );
            }

            seen.AddRange(waits);
        }
    }

    private static IEnumerable<Wait> WaitsOf(StepModel step)
    {
        var (subjects, match) = step.Flow switch
        {
            ReceiveFlow receive => (receive.Subjects, receive.Match),
            CollectFlow collect => (collect.Subjects, collect.Match),
            _ => ([], MatchedKeys.None),
        };
        return subjects.Select(subject => new Wait(step, subject, match));
    }

    private sealed record Wait(StepModel Step, SubjectPattern Subject, MatchedKeys Match)
    {
        public bool IsLike(Wait other) => Subject.Overlaps(other.Subject) && Match.Names.SequenceEqual(other.Match.Names);
    }
}
