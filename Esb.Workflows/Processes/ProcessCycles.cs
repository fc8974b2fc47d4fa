using Esb.Core.Configuration;
using Esb.Core.Processes;
using Esb.Workflows.Processes.Steps;

namespace Esb.Workflows.Processes;

/// <summary>Finds processes that run themselves, by way of others or directly. Each circle is reported once.</summary>
internal sealed class ProcessCycles(IReadOnlyDictionary<string, IReadOnlyList<StepConfig>> processes, ConfigErrors errors)
{
    private readonly HashSet<string> _done = [];
    private readonly List<string> _way = [];

    public void Check()
    {
        foreach (var name in processes.Keys) Follow(name);
    }

    // Depth first: whoever is met again on the way closes a circle; what was followed to its end before is not followed again.
    private void Follow(string name)
    {
        var first = _way.IndexOf(name);
        if (first >= 0) errors.Add("ESB-CFG-CYCLE", $"processes.{name}", $"runs itself: {string.Join(" → ", [.. _way[first..], name])}");
        if (first >= 0 || !processes.TryGetValue(name, out var steps) || _done.Contains(name)) return;

        _way.Add(name);
        foreach (var run in StepTree.Descend(steps).Select(step => step.Settings).OfType<RunConfig>()) Follow(run.Process);
        _way.RemoveAt(_way.Count - 1);
        _done.Add(name);
    }
}
