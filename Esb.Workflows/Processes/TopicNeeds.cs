using Esb.Core.Processes;
using Esb.Workflows.Processes.Steps;

namespace Esb.Workflows.Processes;

/// <summary>Which processes hand messages to topics while they run.</summary>
internal sealed class TopicNeeds(IReadOnlyDictionary<string, IReadOnlyList<StepConfig>> processes)
{
    /// <summary>Whether a process, or one that it runs, may publish or request.</summary>
    public bool Of(string process) => Of(process, seen: []);

    private bool Of(string process, HashSet<string> seen) => seen.Add(process) && processes.TryGetValue(process, out var steps) && Of(steps, seen);

    private bool Of(IEnumerable<StepConfig> steps, HashSet<string> seen) => steps.Any(step => step.Settings switch
    {
        IBeginsTransaction => false, // what is published there goes to the outbox first
        PublishConfig or RequestConfig => true,
        RunConfig run => Of(run.Process, seen),
        IHoldsSteps holder => holder.Lists.Any(list => Of(list, seen)),
        _ => false,
    });
}
