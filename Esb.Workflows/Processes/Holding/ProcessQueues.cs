using Esb.Core.Endpoints;
using Esb.Core.Processes;

namespace Esb.Workflows.Processes.Holding;

/// <summary>Adds a queue for each process whose steps hold messages: there they continue.</summary>
internal sealed class ProcessQueues(ProcessModels processes) : IAddedEndpoints
{
    public IEnumerable<OutboundEndpointConfig> Configs =>
        processes
            .All.Where(process => process.Steps.Descend().Any(step => step.Traits.Holds))
            .Select(process => new HeldEndpointConfig(HeldQueues.OfProcess(process.Name), $"processes.{process.Name}"));
}
