using Esb.Core.Configuration;
using Esb.Core.Processes;

namespace Esb.Workflows.Processes.Checks;

/// <summary>Rejects processes that run themselves, directly or by way of others. Each circle is reported once.</summary>
internal sealed class CycleCheck(ProcessModels processes, ConfigErrors errors)
{
    private readonly HashSet<string> _done = [];
    private readonly List<string> _way = [];

    public void Check()
    {
        foreach (var process in processes.All)
            Follow(process.Name);
    }

    // Depth first: a process that is met again on the current path closes a circle. Fully explored processes are skipped.
    private void Follow(string name)
    {
        var first = _way.IndexOf(name);
        if (first >= 0)
            errors.Add("ESB-CFG-CYCLE", $"processes.{name}", $"runs itself: {string.Join(" → ", [.. _way[first..], name])}");
        if (first >= 0 || processes.Find(name) is not { } process || _done.Contains(name))
            return;

        _way.Add(name);
        foreach (var inner in process.Steps.Descend().SelectMany(step => step.Traits.Runs))
            Follow(inner);
        _way.RemoveAt(_way.Count - 1);
        _done.Add(name);
    }
}
