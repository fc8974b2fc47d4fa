using Esb.Core.Marks;

namespace Esb.Host.Management.Marks;

/// <summary>Shows the loads of this host that have a high and a low mark.</summary>
internal static class MarkRoutes
{
    public static IEndpointRouteBuilder MapMarkRoutes(this IEndpointRouteBuilder api, IServiceProvider bus)
    {
        var marks = bus.GetRequiredService<IMarks>();
        api.MapGet(
            "/marks",
            () =>
                new Page<MarkView>([
                    .. marks
                        .All.OrderByDescending(state => state.IsCrossed)
                        .ThenBy(state => state.Measure.Endpoint, StringComparer.Ordinal)
                        .ThenBy(state => state.Measure.Name, StringComparer.Ordinal)
                        .Select(MarkView.Of),
                ])
        );
        return api;
    }
}
