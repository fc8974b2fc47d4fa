using Esb.Core.Configuration;
using Esb.Core.Processes;

namespace Esb.Workflows.Processes.Checks;

/// <summary>Rejects steps with another effect than publishing inside of steps that take effect all or not at all.</summary>
internal sealed class StoredPublishCheck(ProcessModels processes)
{
    public void Check(ConfigErrors errors)
    {
        foreach (var step in processes.Steps.Where(step => step.Traits.StoresPublishes))
        {
            foreach (var inner in processes.Reached(step.Lists.SelectMany(list => list.Steps)).Where(HasEffect))
                errors.Add(
                    "ESB-CFG-VALUE",
                    inner.Path,
                    $"'{inner.Kind}' takes effect before it is known whether all items succeed; expected it behind the {step.Kind}, or "
                        + "\"mode\": \"each\"",
                    inner.Origin
                );
        }
    }

    private static bool HasEffect(StepModel step) =>
        step.Traits.Calls.Count > 0 || step.Traits.Requests.Count > 0 || step.Traits.Holds || step.Traits.Transaction is not null;
}
