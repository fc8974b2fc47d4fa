using Esb.Configuration;
using Esb.Configuration.Compiling;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Processes;
using Esb.Core.Storage;
using Esb.Core.Topics;

namespace Esb.Endpoints;

/// <summary>Refuses <c>singleInstance</c> if hosts cannot agree on the instance, or if the others would use the endpoint anyway.</summary>
internal sealed class SingleInstanceRule(
    IReadOnlyDictionary<string, EndpointConfig> configured,
    TransportConfig transport,
    StoreConfig store,
    UnreadSettings unread,
    ProcessModels processes
) : IConfigurationRule
{
    public void Check(ConfigErrors errors)
    {
        var endpoints = configured.Values;
        var singles = endpoints
            .Where(endpoint =>
                endpoint is InboundEndpointConfig { SingleInstance: true } or OutboundEndpointConfig { SingleInstance: true }
            )
            .ToList();
        if (unread.IsSound("store") && transport.SpansHosts && !store.IsShared)
        {
            foreach (var endpoint in singles)
                errors.Add(
                    "ESB-CFG-STORE",
                    endpoint,
                    "singleInstance",
                    "hosts agree in the store on which of them it is; expected store.type \"postgres\""
                );
        }

        var direct = processes.Called.Concat(endpoints.OfType<InboundEndpointConfig>().SelectMany(endpoint => endpoint.Relays)).ToHashSet();
        foreach (var endpoint in singles.OfType<OutboundEndpointConfig>())
        {
            if (direct.Contains(endpoint.Name))
                errors.Add(
                    "ESB-CFG-SINGLE",
                    endpoint,
                    "singleInstance",
                    "a call or a relay uses it on whichever host it runs; expected only messages that it subscribes to"
                );
            else if (endpoint.Subscribe.Count == 0 && endpoint.IsSound("subscribe"))
                errors.Add("ESB-CFG-SINGLE", endpoint, "singleInstance", "hosts share what it subscribes to; expected subscribe");
        }
    }
}
