using Esb.Core.Audit;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Marks;
using Esb.Core.Pooling;
using Esb.Core.Topics;
using Esb.Core.Workflows;
using Esb.Delivery.Marks;
using Esb.Host.Metrics;

namespace Esb.Host.Management.Metrics;

/// <summary>Shows the metrics of this host, as JSON or in the Prometheus format, and resets the peaks.</summary>
internal static class MetricsRoutes
{
    public static IEndpointRouteBuilder MapMetricsRoutes(this IEndpointRouteBuilder api, IServiceProvider bus)
    {
        var collector = bus.GetRequiredService<MetricsCollector>();
        var monitors = bus.GetServices<IEndpointMonitor>().ToList();
        var host = bus.GetService<IFarm>()?.Self ?? FarmHost.OfThisProcess();
        var time = bus.GetRequiredService<TimeProvider>();
        var spool = bus.GetService<IAuditWriter>()?.Spool;
        var marks = bus.GetRequiredService<IMarks>();
        var processor = bus.GetRequiredService<ProcessorLoad>();
        var workflows = bus.GetRequiredService<IWorkflowCounts>();
        api.MapGet(
            "/metrics",
            (HttpRequest request) =>
            {
                RequireCounters(collector);
                var format = new QueryReader(request.Query).Allow("format").Choice<MetricsFormat>("format") ?? FormatOf(request);
                var view = MetricsView.Of(collector, monitors, spool, workflows.Living, host, time);
                return format == MetricsFormat.Prometheus
                    ? Results.Text(PrometheusText.Of(view, collector, marks.All, processor), PrometheusText.ContentType)
                    : Results.Json(view);
            }
        );
        api.MapDelete(
            "/metrics/peaks",
            () =>
            {
                RequireCounters(collector);
                collector.ResetPeaks();
                foreach (var monitor in monitors)
                    monitor.ResetPeaks();
                foreach (var pool in LivePools.All)
                    pool.ResetPeak();
                return TypedResults.NoContent();
            }
        );
        return api;
    }

    /// <summary>Maps <c>/metrics</c>, where Prometheus looks by default.</summary>
    public static void MapPrometheus(this IEndpointRouteBuilder routes, IServiceProvider bus)
    {
        var collector = bus.GetRequiredService<MetricsCollector>();
        var monitors = bus.GetServices<IEndpointMonitor>().ToList();
        var host = bus.GetService<IFarm>()?.Self ?? FarmHost.OfThisProcess();
        var time = bus.GetRequiredService<TimeProvider>();
        var spool = bus.GetService<IAuditWriter>()?.Spool;
        var marks = bus.GetRequiredService<IMarks>();
        var processor = bus.GetRequiredService<ProcessorLoad>();
        var workflows = bus.GetRequiredService<IWorkflowCounts>();
        routes.MapGet(
            "/metrics",
            () =>
            {
                RequireCounters(collector);
                var view = MetricsView.Of(collector, monitors, spool, workflows.Living, host, time);
                return Results.Text(PrometheusText.Of(view, collector, marks.All, processor), PrometheusText.ContentType);
            }
        );
    }

    // Prometheus requests text/plain, or OpenMetrics with text/plain as an alternative. The default is JSON.
    private static MetricsFormat FormatOf(HttpRequest request) =>
        request.Headers.Accept.ToString() is var accept
        && accept.Contains("text/plain", StringComparison.OrdinalIgnoreCase)
        && !accept.Contains("application/json", StringComparison.OrdinalIgnoreCase)
            ? MetricsFormat.Prometheus
            : MetricsFormat.Json;

    private static void RequireCounters(MetricsCollector collector)
    {
        if (!collector.IsEnabled)
            throw new EsbException("ESB-API-COUNTERS", "This host keeps no counters: telemetry.counters is false.", FaultKind.Malformed)
            {
                Status = StatusCodes.Status404NotFound,
            };
    }
}

/// <summary>The output formats of metrics.</summary>
internal enum MetricsFormat
{
    Json,
    Prometheus,
}
