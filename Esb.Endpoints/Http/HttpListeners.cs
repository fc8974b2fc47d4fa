using Esb.Core;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Http;

/// <summary>The listeners that endpoints use, and the routes on them.</summary>
internal sealed class HttpListeners : IBusPart, IAsyncDisposable
{
    private readonly Dictionary<string, HttpRoute> _routes = [];
    private readonly List<KestrelListener> _listeners = [];

    public HttpListeners(EsbConfiguration configuration, ILoggerFactory loggers)
    {
        var configs = configuration.Named<ListenerConfig>("listeners");
        var endpoints = configuration.Named<EndpointConfig>("endpoints").Values.OfType<HttpInboundConfig>().Where(endpoint => endpoint.Enabled);
        foreach (var onListener in endpoints.GroupBy(endpoint => endpoint.Listener))
        {
            var routes = onListener.Select(endpoint => new HttpRoute(endpoint.Name, endpoint.RequestPath, endpoint.Methods)).ToList();
            foreach (var route in routes) _routes[route.Endpoint] = route;
            if (configs.TryGetValue(onListener.Key, out var config)) _listeners.Add(new KestrelListener(config, new HttpRoutes(routes), loggers)); // none in a draft
        }
    }

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
