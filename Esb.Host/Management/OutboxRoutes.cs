using Esb.Core.Storage;

namespace Esb.Host.Management;

/// <summary>Shows the state of the transactional outboxes.</summary>
internal static class OutboxRoutes
{
    public static IEndpointRouteBuilder MapOutboxRoutes(this IEndpointRouteBuilder api, IServiceProvider bus)
    {
        var monitors = bus.GetServices<IOutboxMonitor>().ToList();
        api.MapGet(
            "/outboxes",
            () =>
                new Page<OutboxStatus>([
                    .. monitors.SelectMany(monitor => monitor.Outboxes).OrderBy(status => status.Connection, StringComparer.Ordinal),
                ])
        );
        return api;
    }
}
