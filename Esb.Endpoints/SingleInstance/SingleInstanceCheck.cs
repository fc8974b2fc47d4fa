using Esb.Core;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Storage;
using Esb.Core.Topics;

namespace Esb.Endpoints.SingleInstance;

/// <summary>Refuses <c>singleInstance</c> where hosts could not find out which of them it is.</summary>
internal sealed class SingleInstanceCheck(EsbConfiguration configuration) : IConfigurationCheck
{
    public void Check(ConfigErrors errors)
    {
        if (!configuration.IsSound("store") || !configuration.Section<TransportConfig>("transport").SpansHosts || configuration.Section<StoreConfig>("store").IsShared) return;
        foreach (var endpoint in configuration.Named<EndpointConfig>("endpoints").Values.OfType<InboundEndpointConfig>().Where(endpoint => endpoint.SingleInstance))
            errors.Add("ESB-CFG-STORE", endpoint, "singleInstance", "hosts agree in the store on which of them it is; expected store.type \"postgres\"");
    }
}
