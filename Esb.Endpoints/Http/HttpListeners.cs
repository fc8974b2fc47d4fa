using Esb.Core;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Listening;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Http;

/// <summary>The listeners that endpoints use, and the routes on them.</summary>
internal sealed class HttpListeners : IBusPart, IListeningPart, IAsyncDisposable
{
    private readonly Dictionary<string, HttpRoute> _routes = [];
    private readonly List<KestrelListener> _listeners = [];
    private readonly List<ListeningPlace> _places = [];

    public HttpListeners(EsbConfiguration configuration, TimeProvider time, ILoggerFactory loggers)
    {
        var configs = configuration.Named<ListenerConfig>("listeners");
        var endpoints = configuration.Named<EndpointConfig>("endpoints").Values.OfType<HttpInboundConfig>().Where(endpoint => endpoint.Enabled);
        var onListener = endpoints.ToLookup(endpoint => endpoint.Listener);
        foreach (var (name, config) in configs)
        {
            var routes = onListener[name].Select(endpoint => new HttpRoute(endpoint.Name, endpoint.RequestPath, endpoint.Methods, endpoint.Accept)).ToList();
            foreach (var route in routes) _routes[route.Endpoint] = route;
            if (routes.Count > 0) _listeners.Add(new KestrelListener(config, new HttpRoutes(routes), time, loggers));
            _places.Add(new ListeningPlace($"the listener '{name}'", config, "url", config.Url, IsOpened: routes.Count > 0));
        }
    }

    public IEnumerable<ListeningPlace> Places => _places;

    public BusStage Stage => BusStage.Inbound;

    /// <summary>The route of an enabled endpoint.</summary>
    public HttpRoute RouteOf(string endpoint) => _routes[endpoint];

    public async Task StartAsync(CancellationToken cancellationToken)
    {
        foreach (var listener in _listeners) await listener.StartAsync(cancellationToken);
    }

    public Task StopAsync(CancellationToken cancellationToken) => Task.WhenAll(_listeners.Select(listener => listener.StopAsync(cancellationToken)));

    public async ValueTask DisposeAsync()
    {
        foreach (var listener in _listeners) await listener.DisposeAsync();
    }
}
