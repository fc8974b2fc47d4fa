using Esb.Core;
using Esb.Core.Configuration;
using Esb.Endpoints.Http.Proxies;

namespace Esb.Endpoints.Http;

/// <summary>Checks what listeners let in.</summary>
internal sealed class ListenerCheck(EsbConfiguration configuration) : IConfigurationCheck
{
    public void Check(ConfigErrors errors)
    {
        foreach (var listener in configuration.Named<ListenerConfig>("listeners").Values)
        {
            if (!listener.Hosts.All(AllowedHosts.IsPattern))
                errors.Add("ESB-CFG-VALUE", listener, "hosts", "expected names such as \"esb.example.com\", \"esb.example.com:8443\" or \"*.example.com\"");
            if (listener.TrustedProxies.Any(network => TrustedProxies.TryParse(network) is null))
                errors.Add("ESB-CFG-VALUE", listener, "trustedProxies", "expected addresses, or networks such as \"10.0.0.0/8\"");
        }
    }
}
