using Esb.Core.Endpoints;
using Esb.Core.Processes;

namespace Esb.Workflows.Processes.Holding;

/// <summary>Adds a queue for each process whose steps hold messages: there they continue.</summary>
internal sealed class ProcessQueues(ProcessModels processes) : IAddedEndpoints
{
    public IEnumerable<OutboundEndpointConfig> Configs =>
        processes
            .All.Where(process => process.Steps.Descend().Any(step => step.Traits is { Holds: true, Runs.Count: 0 }))
            .Select(process => new HeldEndpointConfig(
                HeldQueues.OfProcess(process.Name),
                process.Name,
                process.Name.StartsWith(HeldQueues.ItineraryPrefix, StringComparison.Ordinal)
                    ? $"itineraries.{process.Name[HeldQueues.ItineraryPrefix.Length..]}"
                    : $"processes.{process.Name}"
            ));
}
