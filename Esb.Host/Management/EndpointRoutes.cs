using Esb.Configuration;
using Esb.Core.Endpoints;

namespace Esb.Host.Management;

/// <summary>Shows the state of the endpoints, and changes them at run time.</summary>
internal static partial class EndpointRoutes
{
    public static IEndpointRouteBuilder MapEndpointRoutes(this IEndpointRouteBuilder api, IServiceProvider bus)
    {
        var monitors = bus.GetServices<IEndpointMonitor>().ToList();
        var logger = bus.GetRequiredService<ILoggerFactory>().CreateLogger(typeof(EndpointRoutes));
        api.MapGet("/endpoints", () => new Page<EndpointStatus>(Endpoints(monitors)));
        api.MapGet("/endpoints/{name}", (string name) => Find(monitors, name));
        api.MapPatch("/endpoints/{name}", async (string name, HttpRequest request, CancellationToken cancellationToken) =>
        {
            Find(monitors, name);
            var tuning = await JsonBody.ReadAsync<EndpointTuning>(request, cancellationToken);
            if (tuning == new EndpointTuning()) throw Problems.Parameter("body", "expected at least one of poolSize, processingThreads, prefetch, paused");
            var hosts = await bus.GetRequiredService<IFarmTuning>().TuneAsync(name, tuning, cancellationToken);
            var decision = Operators.DecisionOf(request, reason: null);
            LogTuned(logger, name, decision.By, hosts.Count);
            return new TunedEndpoint(Find(monitors, name), [.. hosts.Select(host => host.Name)]);
        });
        return api;
    }

    private static IReadOnlyList<EndpointStatus> Endpoints(IEnumerable<IEndpointMonitor> monitors) =>
        [.. monitors.SelectMany(monitor => monitor.Endpoints).OrderBy(status => status.Name, StringComparer.Ordinal)];

    private static EndpointStatus Find(IEnumerable<IEndpointMonitor> monitors, string name)
    {
        var endpoints = Endpoints(monitors);
        return endpoints.FirstOrDefault(endpoint => endpoint.Name == name)
            ?? throw Problems.NotFound($"There is no endpoint '{name}'{NearestName.Hint(name, endpoints.Select(endpoint => endpoint.Name))}");
    }

    [LoggerMessage(EventId = 5110, Level = LogLevel.Information, Message = "Endpoint {Endpoint} was changed by {By}; {Hosts} hosts were told")]
    private static partial void LogTuned(ILogger logger, string endpoint, string by, int hosts);
}

/// <summary>The result of an endpoint change.</summary>
/// <param name="Endpoint">The endpoint on this host.</param>
/// <param name="Hosts">The names of the hosts that were notified.</param>
internal sealed record TunedEndpoint(EndpointStatus Endpoint, IReadOnlyList<string> Hosts);
