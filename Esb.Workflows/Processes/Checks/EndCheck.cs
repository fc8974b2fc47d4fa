using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Processes;

namespace Esb.Workflows.Processes.Checks;

/// <summary>Rejects steps that wait for the end of their process where a message can still fail behind it.</summary>
internal sealed class EndCheck(ProcessModels processes, IEnumerable<EndpointConfig> endpoints)
{
    public void Check(ConfigErrors errors)
    {
        foreach (var endpoint in endpoints.OfType<OutboundEndpointConfig>())
        {
            var around = new[] { endpoint.PreparedBy, endpoint.Reply }.OfType<string>().Select(processes.Find).OfType<ProcessModel>();
            foreach (var step in around.SelectMany(process => processes.Reached(process.Steps.Steps)).Where(step => step.Traits.AwaitsEnd))
                errors.Add(
                    "ESB-CFG-VALUE",
                    step.Path,
                    $"'{step.Kind}' is not possible in a process of '{endpoint.Name}': the message may fail when it is sent, after "
                        + $"the process has succeeded",
                    step.Origin
                );
        }
    }
}
