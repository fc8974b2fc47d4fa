using Esb.Configuration.Compiling;
using Esb.Configuration.Revisions;
using Esb.Core;
using Esb.Core.Configuration;
using Esb.Endpoints.Http.Transport;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Http.Listening;

/// <summary>The listeners that endpoints use, and their routes. A retained listener keeps its connections; its routes, hosts and proxies
/// are replaced.</summary>
internal sealed class HttpListeners(Live<ListenerModels> models, TimeProvider time, ILoggerFactory loggers)
    : IInboundGround,
        IRevisionPart,
        IAsyncDisposable
{
    // Settings that are evaluated for each request; the others belong to the socket and its connections.
    private static readonly string[] InPlace = ["hosts", "trustedProxies", "allowInsecure"];

    private readonly Lock _gate = new();
    private Dictionary<string, KestrelListener> _listeners = [];
    private List<KestrelListener> _added = [];
    private HeldThreads? _heldThreads;
    private volatile bool _isMade;
    private volatile IReadOnlyDictionary<string, HttpRoute> _routes = new Dictionary<string, HttpRoute>();

    public BusStage Stage => BusStage.Inbound;

    /// <summary>Returns the route of an enabled endpoint.</summary>
    public HttpRoute RouteOf(string endpoint)
    {
        Make();
        return _routes[endpoint];
    }

    public async Task StartAsync(CancellationToken cancellationToken)
    {
        Make();
        _heldThreads = new HeldThreads(time, loggers.CreateLogger<HeldThreads>());
        foreach (var listener in _listeners.Values)
            await listener.StartAsync(cancellationToken);
    }

    public Task StopAsync(CancellationToken cancellationToken) =>
        Task.WhenAll(_listeners.Values.Select(listener => listener.StopAsync(cancellationToken)));

    /// <summary>Opens the new listeners. A retained listener must be unchanged, but for what is evaluated for each request.</summary>
    public async Task PrepareAsync(Revision next, ConfigErrors errors, CancellationToken cancellationToken)
    {
        _added = [];
        foreach (var model in Used(next.Services.GetRequiredService<ListenerModels>()))
        {
            if (_listeners.TryGetValue(model.Config.Name, out var running))
            {
                if (Fingerprint.Of(running.Config, InPlace) != Fingerprint.Of(model.Config, InPlace))
                    errors.Add(
                        new ConfigError(
                            "ESB-CONFIG-RESTART",
                            model.Config.Path,
                            null,
                            "cannot change while it listens: restart the host, or configure another listener beside it",
                            model.Config.Origin
                        )
                    );
                continue;
            }

            var added = Create(model);
            _added.Add(added);
            try
            {
                await added.StartAsync(cancellationToken);
            }
            catch (ConfigurationRefusedException ex)
            {
                foreach (var error in ex.Errors)
                    errors.Add(error);
            }
        }
    }

    public async Task AbandonAsync()
    {
        foreach (var listener in _added)
            await listener.DisposeAsync();
        _added = [];
    }

    /// <summary>Prepares the routes for the endpoints that open them; this part is exchanged first.</summary>
    public Task ExchangeAsync(Revision next, Leftovers old, CancellationToken cancellationToken)
    {
        var wanted = models.Current;
        var used = Used(wanted).Select(model => model.Config.Name).ToHashSet();
        foreach (var added in _added)
            _listeners[added.Config.Name] = added;
        _added = [];
        foreach (var left in _listeners.Where(listener => !used.Contains(listener.Key)).Select(listener => listener.Value).ToList())
            Close(left, old);
        _listeners = _listeners.Where(listener => used.Contains(listener.Key)).ToDictionary();
        Serve(wanted);
        return Task.CompletedTask;
    }

    public async ValueTask DisposeAsync()
    {
        foreach (var listener in _listeners.Values.Concat(_added))
            await listener.DisposeAsync();
        _heldThreads?.Dispose();
    }

    // Its calls in progress are answered.
    private static void Close(KestrelListener listener, Leftovers old)
    {
        old.Until(listener.StopAsync(CancellationToken.None));
        old.Then(listener.DisposeAsync);
    }

    private static IEnumerable<ListenerModel> Used(ListenerModels models) => models.All.Where(model => model.Endpoints.Count > 0);

    private KestrelListener Create(ListenerModel model) => new(model.Config, time, loggers);

    // Runs once, for the first caller: the listeners, or an endpoint that requests its route.
    private void Make()
    {
        if (_isMade)
            return;
        lock (_gate)
        {
            if (_isMade)
                return;
            _listeners = Used(models.Current).ToDictionary(model => model.Config.Name, Create);
            Serve(models.Current);
            _isMade = true;
        }
    }

    // An unchanged route keeps its handler, so its callers notice nothing.
    private void Serve(ListenerModels wanted)
    {
        var before = _routes;
        var after = Used(wanted)
            .SelectMany(model => model.Endpoints)
            .ToDictionary(
                endpoint => endpoint.Name,
                endpoint =>
                    before.TryGetValue(endpoint.Name, out var route) && route.IsOf(endpoint)
                        ? route
                        : new HttpRoute(endpoint.Name, endpoint.RequestPath, endpoint.Methods, endpoint.Accept, endpoint.Failures)
            );
        _routes = after;
        foreach (var model in Used(wanted))
            _listeners[model.Config.Name]
                .Serve(model.Config, new HttpRoutes([.. model.Endpoints.Select(endpoint => after[endpoint.Name])]));
    }
}
