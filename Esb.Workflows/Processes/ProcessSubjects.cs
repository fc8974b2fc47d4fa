using Esb.Core.Processes;
using Esb.Core.Topics;
using Esb.Workflows.Processes.Steps;

namespace Esb.Workflows.Processes;

/// <summary>The subjects that processes may publish or request, by their configuration.</summary>
internal sealed class ProcessSubjects(IReadOnlyDictionary<string, IReadOnlyList<StepConfig>> processes)
{
    /// <summary>Those of a process and of the ones that it runs; none where it does not exist.</summary>
    public IEnumerable<Subject> Of(string process) => Of(process, seen: []);

    private IEnumerable<Subject> Of(string process, HashSet<string> seen)
    {
        if (!seen.Add(process) || !processes.TryGetValue(process, out var steps)) return [];
        return StepTree.Descend(steps).SelectMany(step => step.Settings switch
        {
            PublishConfig publish => [publish.Subject],
            RequestConfig request => [request.Subject],
            RunConfig run => Of(run.Process, seen),
            _ => [],
        });
    }
}
