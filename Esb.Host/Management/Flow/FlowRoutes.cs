using Esb.Configuration.Compiling;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Host.Metrics;

namespace Esb.Host.Management.Flow;

/// <summary>Shows what the running configuration connects, with states and rates, as data or as a drawing.</summary>
internal static class FlowRoutes
{
    public static IEndpointRouteBuilder MapFlowRoutes(this IEndpointRouteBuilder api, IServiceProvider bus)
    {
        var live = bus.GetRequiredService<Live<BusModel>>();
        var monitors = bus.GetServices<IEndpointMonitor>().ToList();
        var metrics = bus.GetRequiredService<MetricsCollector>();
        var queues = bus.GetRequiredService<QueueLengths>();
        api.MapGet(
            "/flow",
            (HttpRequest request) =>
            {
                var format = new QueryReader(request.Query).Allow("format").Choice<FlowFormat>("format") ?? FlowFormat.Json;
                var model = live.Current;
                var states = monitors
                    .SelectMany(monitor => monitor.Endpoints)
                    .DistinctBy(status => status.Name)
                    .ToDictionary(status => status.Name);
                var view = FlowView.Of(model.Configuration.Name, model.Revision, FlowReader.Read(model), states, metrics, queues.Current);
                return format == FlowFormat.Svg ? Results.Text(FlowSvg.Draw(view), "image/svg+xml; charset=utf-8") : Results.Json(view);
            }
        );
        return api;
    }
}

/// <summary>The output formats of the flow.</summary>
internal enum FlowFormat
{
    Json,
    Svg,
}
