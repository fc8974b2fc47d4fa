using Esb.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Storage;
using Esb.Core.Topics;

namespace Esb.Host.Management;

/// <summary>Shows the state of the endpoints, and changes them at run time.</summary>
internal static partial class EndpointRoutes
{
    public static IEndpointRouteBuilder MapEndpointRoutes(this IEndpointRouteBuilder api, IServiceProvider bus)
    {
        var monitors = bus.GetServices<IEndpointMonitor>().ToList();
        var logger = bus.GetRequiredService<ILoggerFactory>().CreateLogger(typeof(EndpointRoutes));
        api.MapGet("/endpoints", () => new Page<EndpointStatus>(Endpoints(monitors, bus)));
        api.MapGet("/endpoints/{name}", (string name) => Find(monitors, bus, name));
        api.MapPatch(
            "/endpoints/{name}",
            async (string name, HttpRequest request, CancellationToken cancellationToken) =>
            {
                Find(monitors, bus, name);
                var tuning = await JsonBody.ReadAsync<EndpointTuning>(request, cancellationToken);
                if (tuning == new EndpointTuning())
                    throw Problems.Parameter(
                        "body",
                        "expected at least one of poolSize, processingThreads, prefetch, paused, retry, circuitBreaker, rate, audit"
                    );
                var decision = Operators.DecisionOf(request, reason: null);
                return Told(
                    name,
                    decision,
                    await bus.GetRequiredService<IFarmTuning>().TuneAsync(name, tuning, decision, cancellationToken)
                );
            }
        );
        api.MapDelete(
            "/endpoints/{name}/tuning",
            (string name, HttpRequest request, CancellationToken cancellationToken) => ResetAsync(name, null, request, cancellationToken)
        );
        api.MapDelete(
            "/endpoints/{name}/tuning/{setting}",
            (string name, string setting, HttpRequest request, CancellationToken cancellationToken) =>
                ResetAsync(name, setting, request, cancellationToken)
        );
        return api;

        // Also of an endpoint that is gone, whose tuning would count again when it returns.
        async Task<TunedEndpoint> ResetAsync(string name, string? setting, HttpRequest request, CancellationToken cancellationToken)
        {
            var tuning = bus.GetRequiredService<IFarmTuning>();
            if (tuning.Tuned.All(one => one.Endpoint != name))
                Find(monitors, bus, name);
            var decision = Operators.DecisionOf(request, reason: null);
            return Told(name, decision, await tuning.ResetAsync(name, setting, decision, cancellationToken));
        }

        TunedEndpoint Told(string name, OperatorDecision decision, IReadOnlyList<FarmHost> hosts)
        {
            LogTuned(logger, name, decision.By, hosts.Count);
            return new TunedEndpoint(
                Endpoints(monitors, bus).FirstOrDefault(endpoint => endpoint.Name == name),
                [.. hosts.Select(host => host.Name)]
            );
        }
    }

    private static IReadOnlyList<EndpointStatus> Endpoints(IEnumerable<IEndpointMonitor> monitors, IServiceProvider bus)
    {
        var tuned = bus.GetService<IFarmTuning>()?.Tuned.ToLookup(one => one.Endpoint);
        return
        [
            .. monitors
                .SelectMany(monitor => monitor.Endpoints)
                .OrderBy(status => status.Name, StringComparer.Ordinal)
                .Select(status => tuned?.Contains(status.Name) == true ? status with { Tuned = [.. tuned[status.Name]] } : status),
        ];
    }

    private static EndpointStatus Find(IEnumerable<IEndpointMonitor> monitors, IServiceProvider bus, string name)
    {
        var endpoints = Endpoints(monitors, bus);
        return endpoints.FirstOrDefault(endpoint => endpoint.Name == name)
            ?? throw Problems.NotFound(
                $"There is no endpoint '{name}'{NearestName.Hint(name, endpoints.Select(endpoint => endpoint.Name))}"
            );
    }

    [LoggerMessage(
        EventId = 5110,
        Level = LogLevel.Information,
        Message = "Endpoint {Endpoint} was changed by {By}; {Hosts} hosts were told"
    )]
    private static partial void LogTuned(ILogger logger, string endpoint, string by, int hosts);
}

/// <summary>The result of an endpoint change.</summary>
/// <param name="Endpoint">The endpoint on this host; null if it does not exist any more.</param>
/// <param name="Hosts">The names of the hosts that were notified.</param>
internal sealed record TunedEndpoint(EndpointStatus? Endpoint, IReadOnlyList<string> Hosts);
