using Esb.Core.Endpoints;

namespace Esb.Host.Management;

/// <summary>How the endpoints stand.</summary>
internal static class EndpointRoutes
{
    public static IEndpointRouteBuilder MapEndpointRoutes(this IEndpointRouteBuilder api, IServiceProvider bus)
    {
        var monitors = bus.GetServices<IEndpointMonitor>().ToList();
        api.MapGet("/endpoints", () => new Page<EndpointStatus>([.. monitors.SelectMany(monitor => monitor.Endpoints).OrderBy(status => status.Name, StringComparer.Ordinal)]));
        return api;
    }
}
