using Esb.Configuration;
using Esb.Configuration.Compiling;
using Esb.Core.Certificates;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Listening;
using Esb.Endpoints.Http.Listening;
using Esb.Endpoints.Http.Receiving;

namespace Esb.Endpoints.Http.Tls;

/// <summary>Refuses listeners with unusable TLS settings, and credentials that could be read in transit.</summary>
internal sealed class ListenerTlsRule(
    IReadOnlyDictionary<string, EndpointConfig> endpoints,
    IReadOnlyDictionary<string, ListenerConfig> listeners,
    TimeProvider time
) : IConfigurationRule
{
    public void Check(ConfigErrors errors)
    {
        var onListener = endpoints.Values.OfType<ListeningEndpointConfig>().ToLookup(endpoint => endpoint.Listener);
        foreach (var listener in listeners.Values)
        {
            if (listener.Tls is { } tls)
                TlsListening.Check(tls, time.GetUtcNow(), errors);
            if (ListeningAddress.Parse(listener.Url, listener, "url", new ConfigErrors()) is { } address && listener.IsSound("url", "tls"))
                Check(listener, address, onListener[listener.Name].Any(endpoint => endpoint.Authentication.Count > 0), errors);
        }
    }

    private static void Check(ListenerConfig listener, ListeningAddress address, bool hasCredentials, ConfigErrors errors)
    {
        if (address.IsTls && listener.Tls is null)
            errors.Add("ESB-CFG-URL", listener, "url", "expected http://, or \"tls\" with the certificate of the listener");
        if (!address.IsTls && listener.Tls is not null)
            errors.Add("ESB-CFG-URL", listener, "url", "expected https://, as \"tls\" is given");
        if (hasCredentials && address is { IsTls: false, IsLoopback: false })
            errors.RefuseInsecure(listener, "url", listener.AllowInsecure, "https:// for endpoints with \"authentication\"");
    }
}
