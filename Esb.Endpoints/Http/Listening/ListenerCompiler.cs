using Esb.Configuration;
using Esb.Configuration.Compiling;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Listening;
using Esb.Endpoints.Http.Proxies;
using Esb.Endpoints.Http.Receiving;

namespace Esb.Endpoints.Http.Listening;

/// <summary>A listener and its endpoints. Immutable.</summary>
internal sealed record ListenerModel(ListenerConfig Config, IReadOnlyList<ListeningEndpointConfig> Endpoints);

/// <summary>The compiled section <c>listeners</c>. Immutable.</summary>
internal sealed record ListenerModels(IReadOnlyList<ListenerModel> All);

/// <summary>Compiles the section <c>listeners</c> and checks what the listeners admit.</summary>
internal sealed class ListenerCompiler(
    IReadOnlyDictionary<string, ListenerConfig> listeners,
    IReadOnlyDictionary<string, EndpointConfig> endpoints,
    HostConfig host,
    ConfigErrors errors
) : ICompiler<ListenerModels>
{
    public ListenerModels Compile()
    {
        foreach (var listener in listeners.Values)
            Check(listener);
        var onListener = endpoints.Values.OfType<ListeningEndpointConfig>().Where(host.Runs).ToLookup(endpoint => endpoint.Listener);
        return new ListenerModels([.. listeners.Select(one => new ListenerModel(one.Value, [.. onListener[one.Key]]))]);
    }

    private void Check(ListenerConfig listener)
    {
        if (!listener.Hosts.All(AllowedHosts.IsPattern))
            errors.Add(
                "ESB-CFG-VALUE",
                listener,
                "hosts",
                "expected names such as \"esb.example.com\", \"esb.example.com:8443\" or \"*.example.com\""
            );
        if (listener.TrustedProxies.Any(network => TrustedProxies.TryParse(network) is null))
            errors.Add("ESB-CFG-VALUE", listener, "trustedProxies", "expected addresses, or networks such as \"10.0.0.0/8\"");
    }
}

/// <summary>The ports of listeners.</summary>
internal sealed class ListenerPlaces(ListenerModels listeners) : IListeningPart
{
    public IEnumerable<ListeningPlace> Places =>
        listeners.All.Select(listener => new ListeningPlace(
            $"the listener '{listener.Config.Name}'",
            listener.Config,
            "url",
            listener.Config.Url,
            IsOpened: listener.Endpoints.Count > 0
        ));
}
