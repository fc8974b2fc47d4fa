using Esb.Core;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Processes;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Endpoints.Http;

namespace Esb.Endpoints.SingleInstance;

/// <summary>Refuses <c>singleInstance</c> where hosts could not find out which of them it is, or where the others would use the endpoint all the same.</summary>
internal sealed class SingleInstanceCheck(EsbConfiguration configuration) : IConfigurationCheck
{
    public void Check(ConfigErrors errors)
    {
        var endpoints = configuration.Named<EndpointConfig>("endpoints").Values;
        var singles = endpoints.Where(endpoint => endpoint is InboundEndpointConfig { SingleInstance: true } or OutboundEndpointConfig { SingleInstance: true }).ToList();
        if (configuration.IsSound("store") && configuration.Section<TransportConfig>("transport").SpansHosts && !configuration.Section<StoreConfig>("store").IsShared)
        {
            foreach (var endpoint in singles)
                errors.Add("ESB-CFG-STORE", endpoint, "singleInstance", "hosts agree in the store on which of them it is; expected store.type \"postgres\"");
        }

        var calls = StepTree.Descend(configuration.Named<IReadOnlyList<StepConfig>>("processes").Values.SelectMany(steps => steps)).Select(step => step.Settings).OfType<ICallsEndpoint>();
        var relays = endpoints.OfType<InboundEndpointConfig>().Where(endpoint => endpoint.Relay is not null);
        var routes = endpoints.OfType<HttpInboundConfig>().SelectMany(endpoint => endpoint.Routes);
        var direct = calls.Select(call => call.Endpoint).Concat(relays.Select(relay => relay.Relay)).Concat(routes.Select(route => route.Relay)).ToHashSet();
        foreach (var endpoint in singles.OfType<OutboundEndpointConfig>())
        {
            if (direct.Contains(endpoint.Name))
                errors.Add("ESB-CFG-SINGLE", endpoint, "singleInstance", "a call or a relay uses it on whichever host it runs; expected only messages that it subscribes to");
            else if (endpoint.Subscribe.Count == 0 && endpoint.IsSound("subscribe"))
                errors.Add("ESB-CFG-SINGLE", endpoint, "singleInstance", "hosts share what it subscribes to; expected subscribe");
        }
    }
}
