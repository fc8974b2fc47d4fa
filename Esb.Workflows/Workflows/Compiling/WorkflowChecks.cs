using Esb.Core.Configuration;
using Esb.Core.Processes;

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
        var seen = new Dictionary<string, StepModel>();
        foreach (var branch in parallel.Lists)
        {
            var waits = branch
                .Descend()
                .SelectMany(step => WaitsOf(step).Select(wait => (Wait: wait, Step: step)))
                .DistinctBy(found => found.Wait)
                .ToList();
            foreach (var (wait, step) in waits)
            {
                if (seen.TryGetValue(wait, out var other))
                    errors.Add(
                        "ESB-WFL-AMBIGUOUS",
                        step.Path,
                        $"waits for the same subject and keys as {other.Path} in another branch",
                        step.Origin
                    );
            }

            foreach (var (wait, step) in waits)
                seen.TryAdd(wait, step);
        }
    }

    private static IEnumerable<string> WaitsOf(StepModel step)
    {
        var (subjects, match) = step.Flow switch
        {
            ReceiveFlow receive => (receive.Subjects, receive.Match),
            CollectFlow collect => (collect.Subjects, collect.Match),
            _ => ([], MatchedKeys.None),
        };
        return subjects.Select(subject => $"{subject} {string.Join(' ', match.Names)}");
    }
}
