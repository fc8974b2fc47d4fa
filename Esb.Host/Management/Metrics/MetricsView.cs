using Esb.Core.Audit;
using Esb.Core.Endpoints;
using Esb.Core.Pooling;
using Esb.Core.Topics;
using Esb.Host.Metrics;

namespace Esb.Host.Management.Metrics;

/// <summary>What this host measured: the answer of <c>GET /api/metrics</c>. Times in seconds.</summary>
internal sealed record MetricsView
{
    /// <summary>This host, its machine and process.</summary>
    public required string Host { get; init; }

    /// <summary>When this was.</summary>
    public required DateTimeOffset Time { get; init; }

    /// <summary>Since when totals are counted.</summary>
    public required DateTimeOffset Since { get; init; }

    /// <summary>Since when peaks are looked for.</summary>
    public required DateTimeOffset PeaksSince { get; init; }

    /// <summary>All endpoints together.</summary>
    public required MeasuredView Total { get; init; }

    public required IReadOnlyList<MeasuredView> Endpoints { get; init; }

    public required IReadOnlyList<MeasuredView> Topics { get; init; }

    public required IReadOnlyList<MeasuredView> Parties { get; init; }

    /// <summary>Messages under way at endpoints, of the most that may be.</summary>
    public required IReadOnlyList<UsageView> Calls { get; init; }

    /// <summary>Instances of pools, of the most that there may be.</summary>
    public required IReadOnlyList<UsageView> Instances { get; init; }

    /// <summary>The audit's facts on their way to their store; null where they are kept on this machine at once.</summary>
    public AuditQueueView? AuditQueue { get; init; }

    public static MetricsView Of(MetricsCollector collector, IEnumerable<IEndpointMonitor> monitors, IAuditSpool? spool, FarmHost host, TimeProvider time) => new()
    {
        Host = host.Name,
        Time = time.GetUtcNow(),
        Since = collector.Since,
        PeaksSince = collector.PeaksSince,
        Total = MeasuredView.Of(collector.Total),
        Endpoints = [.. collector.Endpoints.All.Select(MeasuredView.Of)],
        Topics = [.. collector.Topics.All.Select(MeasuredView.Of)],
        Parties = [.. collector.Parties.All.Select(MeasuredView.Of)],
        Calls = [.. monitors.SelectMany(monitor => monitor.Endpoints).Where(endpoint => endpoint.MaxInFlight is not null).OrderBy(endpoint => endpoint.Name, StringComparer.Ordinal).Select(UsageView.OfCalls)],
        Instances = [.. PoolUsage.All.Select(UsageView.OfPool)],
        AuditQueue = spool is null ? null : AuditQueueView.Of(spool, time),
    };
}
