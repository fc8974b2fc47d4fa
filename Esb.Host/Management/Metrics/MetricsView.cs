using Esb.Core.Audit;
using Esb.Core.Endpoints;
using Esb.Core.Pooling;
using Esb.Core.Topics;
using Esb.Core.Workflows;
using Esb.Host.Metrics;

namespace Esb.Host.Management.Metrics;

/// <summary>The metrics of this host: the response of <c>GET /api/metrics</c>. Times in seconds.</summary>
internal sealed record MetricsView
{
    /// <summary>This host, its machine and process.</summary>
    public required string Host { get; init; }

    /// <summary>The time of the measurement.</summary>
    public required DateTimeOffset Time { get; init; }

    /// <summary>The time since which totals are counted.</summary>
    public required DateTimeOffset Since { get; init; }

    /// <summary>The time of the last peak reset.</summary>
    public required DateTimeOffset PeaksSince { get; init; }

    /// <summary>All endpoints together.</summary>
    public required MeasuredView Total { get; init; }

    public required IReadOnlyList<MeasuredView> Endpoints { get; init; }

    public required IReadOnlyList<MeasuredView> Topics { get; init; }

    public required IReadOnlyList<MeasuredView> Parties { get; init; }

    public required IReadOnlyList<WorkflowMeasuredView> Workflows { get; init; }

    /// <summary>Messages in flight at endpoints, relative to the maximum.</summary>
    public required IReadOnlyList<UsageView> Calls { get; init; }

    /// <summary>Pool instances, relative to the maximum.</summary>
    public required IReadOnlyList<UsageView> Instances { get; init; }

    /// <summary>The audit facts on their way to their store; null if facts are stored on this machine directly.</summary>
    public AuditQueueView? AuditQueue { get; init; }

    public static MetricsView Of(
        MetricsCollector collector,
        IEnumerable<IEndpointMonitor> monitors,
        IAuditSpool? spool,
        IReadOnlyList<LivingCount> living,
        FarmHost host,
        TimeProvider time
    ) =>
        new()
        {
            Host = host.Name,
            Time = time.GetUtcNow(),
            Since = collector.Since,
            PeaksSince = collector.PeaksSince,
            Total = MeasuredView.Of(collector.Total),
            Endpoints = [.. collector.Endpoints.All.Select(MeasuredView.Of)],
            Topics = [.. collector.Topics.All.Select(MeasuredView.Of)],
            Parties = [.. collector.Parties.All.Select(MeasuredView.Of)],
            Workflows = WorkflowMeasuredView.All(collector.Workflows, living),
            Calls =
            [
                .. monitors
                    .SelectMany(monitor => monitor.Endpoints)
                    .Where(endpoint => endpoint.MaxInFlight is not null)
                    .OrderBy(endpoint => endpoint.Name, StringComparer.Ordinal)
                    .Select(UsageView.OfCalls),
            ],
            Instances = [.. PoolUsage.All.Select(UsageView.OfPool)],
            AuditQueue = spool is null ? null : AuditQueueView.Of(spool, time),
        };
}
