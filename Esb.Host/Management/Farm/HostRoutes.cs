namespace Esb.Host.Management.Farm;

/// <summary>Shows the hosts of the farm.</summary>
internal static class HostRoutes
{
    public static IEndpointRouteBuilder MapHostRoutes(this IEndpointRouteBuilder api, IServiceProvider bus)
    {
        var hosts = bus.GetRequiredService<FarmHosts>();
        api.MapGet(
            "/hosts",
            async (CancellationToken cancellationToken) => new Page<HostView>(await hosts.DescribeAsync(cancellationToken))
        );
        return api;
    }
}
