using System.Runtime.CompilerServices;
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
        var drawings = new ConditionalWeakTable<BusModel, FlowDrawing>(); // one for each revision that is asked for
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
                var view = FlowView.Of(
                    model.Configuration.Name,
                    model.Revision,
                    drawings.GetValue(model, Draw),
                    states,
                    metrics,
                    queues.Current
                );
                return format == FlowFormat.Svg ? Results.Text(FlowSvg.Draw(view), "image/svg+xml; charset=utf-8") : Results.Json(view);
            }
        );
        return api;
    }

    private static FlowDrawing Draw(BusModel model)
    {
        var graph = FlowReader.Read(model);
        var (places, width, height) = FlowLayout.Of(graph);
        return new FlowDrawing(graph, places, width, height);
    }
}

/// <summary>The output formats of the flow.</summary>
internal enum FlowFormat
{
    Json,
    Svg,
}
