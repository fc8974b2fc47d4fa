using System.Globalization;
using System.Text;
using Esb.Core.Diagnostics;
using Esb.Core.Marks;
using Esb.Delivery.Marks;
using Esb.Host.Metrics;

namespace Esb.Host.Management.Metrics;

/// <summary>Metrics in the Prometheus format (https://prometheus.io/docs/instrumenting/exposition_formats/, text format 0.0.4).</summary>
/// <remarks>Endpoints, topics and parties are separate metric families: a message counts in each, so a sum over them would count it
/// repeatedly.</remarks>
internal static class PrometheusText
{
    public const string ContentType = "text/plain; version=0.0.4; charset=utf-8";

    private static readonly (CounterKind Kind, string Name)[] Counters =
    [
        (CounterKind.DocumentsIn, "documents_in"),
        (CounterKind.Refused, "refused"),
        (CounterKind.DocumentsOut, "documents_out"),
        (CounterKind.DeadLettered, "dead_lettered"),
        (CounterKind.Parked, "parked"),
    ];

    private static readonly (LatencyKind Kind, string Name)[] Latencies =
    [
        (LatencyKind.Inbound, "inbound_latency"),
        (LatencyKind.Request, "request_response_latency"),
        (LatencyKind.Outbound, "outbound_latency"),
        (LatencyKind.Adapter, "outbound_adapter_latency"),
    ];

    private static readonly (CounterKind Kind, string Name)[] WorkflowCounters =
    [
        (CounterKind.InstancesStarted, "started"),
        (CounterKind.InstancesEnded, "ended"),
        (CounterKind.InstancesStopped, "stopped"),
    ];

    public static string Of(MetricsView view, MetricsCollector collector, IReadOnlyList<MarkState> marks, ProcessorLoad processor)
    {
        var text = new StringBuilder();
        foreach (
            var (label, set) in new[]
            {
                ("endpoint", collector.Endpoints.All),
                ("topic", collector.Topics.All),
                ("party", collector.Parties.All),
            }
        )
        {
            foreach (var (kind, name) in Counters)
                WriteCounter(text, $"esb_{label}_{name}_total", label, set, kind);
            foreach (var (kind, name) in Latencies)
                WriteHistogram(text, $"esb_{label}_{name}_seconds", label, set, kind);
        }

        var workflows = collector.Workflows.All;
        foreach (var (kind, name) in WorkflowCounters)
            WriteCounter(text, $"esb_workflow_{name}_total", "workflow", workflows, kind);
        WriteHistogram(text, "esb_workflow_checkpoint_duration_seconds", "workflow", workflows, LatencyKind.Checkpoint);
        WriteInstances(text, view.Workflows);
        WriteUsage(text, "esb_calls", "endpoint", view.Calls);
        WriteUsage(text, "esb_pool", "pool", view.Instances);
        if (view.AuditQueue is { } queue)
            WriteQueue(text, queue);
        WriteMarks(text, marks);
        WriteGauge(text, "esb_processor_usage", processor.Usage);
        WriteGauge(text, "esb_processor_queue", processor.Queue);
        return text.ToString();
    }

    private static void WriteCounter(StringBuilder text, string family, string label, IReadOnlyList<Measured> set, CounterKind kind)
    {
        var counts = set.Select(measured => (measured.Name, Count: measured.Summarize(kind)))
            .Where(pair => pair.Count is not null)
            .ToList();
        if (counts.Count == 0)
            return;
        text.Append($"# TYPE {family} counter\n");
        foreach (var (name, count) in counts)
            text.Append(CultureInfo.InvariantCulture, $"{family}{{{label}=\"{Escape(name)}\"}} {count!.Total}\n");
    }

    private static void WriteHistogram(StringBuilder text, string family, string label, IReadOnlyList<Measured> set, LatencyKind kind)
    {
        var latencies = set.Select(measured => (measured.Name, Durations: measured.Summarize(kind)))
            .Where(pair => pair.Durations is not null)
            .ToList();
        if (latencies.Count == 0)
            return;
        text.Append($"# TYPE {family} histogram\n");
        foreach (var (name, durations) in latencies)
        {
            var labels = $"{label}=\"{Escape(name)}\"";
            foreach (var bound in EsbTelemetry.DurationBuckets)
                text.Append(CultureInfo.InvariantCulture, $"{family}_bucket{{{labels},le=\"{bound}\"}} {durations!.CountUpTo(bound)}\n");
            text.Append(CultureInfo.InvariantCulture, $"{family}_bucket{{{labels},le=\"+Inf\"}} {durations!.Count}\n");
            text.Append(CultureInfo.InvariantCulture, $"{family}_sum{{{labels}}} {durations.Sum}\n");
            text.Append(CultureInfo.InvariantCulture, $"{family}_count{{{labels}}} {durations.Count}\n");
        }
    }

    private static void WriteUsage(StringBuilder text, string family, string label, IReadOnlyList<UsageView> usages)
    {
        Write("in_use", "gauge", usage => usage.InUse);
        Write("maximum", "gauge", usage => usage.Maximum);
        Write("peak", "gauge", usage => usage.Peak);
        Write("created", "gauge", usage => usage.Created);
        Write("waiting", "gauge", usage => usage.Waiting);
        Write("waits_total", "counter", usage => usage.Waits);

        void Write(string name, string type, Func<UsageView, long?> value)
        {
            var known = usages.Where(usage => value(usage) is not null).ToList();
            if (known.Count == 0)
                return;
            text.Append($"# TYPE {family}_{name} {type}\n");
            foreach (var usage in known)
                text.Append(CultureInfo.InvariantCulture, $"{family}_{name}{{{label}=\"{Escape(usage.Name)}\"}} {value(usage)}\n");
        }
    }

    private static void WriteInstances(StringBuilder text, IReadOnlyList<WorkflowMeasuredView> workflows)
    {
        if (workflows.All(workflow => workflow.Living.Count == 0))
            return;
        text.Append("# TYPE esb_workflow_instances gauge\n");
        foreach (var workflow in workflows)
        {
            foreach (var (state, count) in workflow.Living)
                text.Append(
                    CultureInfo.InvariantCulture,
                    $"esb_workflow_instances{{workflow=\"{Escape(workflow.Name)}\",state=\"{state}\"}} {count}\n"
                );
        }
    }

    private static void WriteQueue(StringBuilder text, AuditQueueView queue)
    {
        Write("esb_audit_queue_length", queue.Waiting);
        Write("esb_audit_queue_age_seconds", queue.OldestAge ?? 0);
        Write("esb_audit_spool_bytes", queue.Bytes);
        Write("esb_audit_spool_limit_bytes", queue.MaxBytes);

        void Write(string family, double value) => text.Append(CultureInfo.InvariantCulture, $"# TYPE {family} gauge\n{family} {value}\n");
    }

    private static void WriteMarks(StringBuilder text, IReadOnlyList<MarkState> marks)
    {
        Write("esb_mark_value", "gauge", state => state.Measure.Value);
        Write("esb_mark_crossed", "gauge", state => state.IsCrossed ? 1 : 0);
        Write("esb_mark_crossings_total", "counter", state => state.Crossings);

        void Write(string family, string type, Func<MarkState, double> value)
        {
            if (marks.Count == 0)
                return;
            text.Append($"# TYPE {family} {type}\n");
            foreach (var state in marks)
            {
                var endpoint = state.Measure.Endpoint is { } name ? $",endpoint=\"{Escape(name)}\"" : "";
                text.Append(CultureInfo.InvariantCulture, $"{family}{{mark=\"{state.Measure.Name}\"{endpoint}}} {value(state)}\n");
            }
        }
    }

    private static void WriteGauge(StringBuilder text, string family, double? value)
    {
        if (value is not null)
            text.Append(CultureInfo.InvariantCulture, $"# TYPE {family} gauge\n{family} {value}\n");
    }

    private static string Escape(string value) =>
        value
            .Replace("\\", "\\\\", StringComparison.Ordinal)
            .Replace("\"", "\\\"", StringComparison.Ordinal)
            .Replace("\n", "\\n", StringComparison.Ordinal);
}
