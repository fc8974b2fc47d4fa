using Esb.Core.Configuration;
using Esb.Core.Processes;

namespace Esb.Workflows.Processes.Checks;

/// <summary>Rejects steps of one process that the history or environment variables could not distinguish.</summary>
internal static class StepIdsCheck
{
    public static void Check(ProcessModels processes, ConfigErrors errors)
    {
        foreach (var process in processes.All)
        {
            var named = process.Steps.Descend().Where(step => step.Id is not null);
            foreach (
                var twins in named
                    .GroupBy(step => step.Id!.Replace('_', '-'), StringComparer.OrdinalIgnoreCase)
                    .Where(group => group.Count() > 1)
            )
            {
                var second = twins.Last();
                var places = string.Join(" and ", twins.Select(step => step.Path));
                errors.Add(
                    "ESB-CFG-DUPNAME",
                    second.Path,
                    $"ids must differ in more than case, - and _; \"{second.Id}\" is that of {places}",
                    second.Origin
                );
            }
        }
    }
}
