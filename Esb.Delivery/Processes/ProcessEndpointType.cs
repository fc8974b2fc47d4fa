using Esb.Core.Configuration;
using Esb.Core.Endpoints;

namespace Esb.Delivery.Processes;

/// <summary>The type <c>process</c>.</summary>
internal sealed class ProcessEndpointType : OutboundEndpointType<ProcessEndpointConfig>
{
    protected override CreateOutbound? Compile(ProcessEndpointConfig settings, ConfigErrors errors)
    {
        if (settings.Subscribe.Count == 0 && settings.IsSound("subscribe"))
            errors.Add(
                "ESB-CFG-REQUIRED",
                settings,
                "subscribe",
                "is required: an endpoint of the type process works on what it subscribes to"
            );
        return services => new ProcessAdapter(DeliveredProcess.Of(settings.Name, settings.Process!, services));
    }
}
