using Esb.Host.Metrics;

namespace Esb.Host.Management.Metrics;

/// <summary>What was measured of an endpoint, a topic or a party. What never happened is left out.</summary>
internal sealed record MeasuredView
{
    public required string Name { get; init; }

    /// <summary>Messages taken in; of a topic, published to it.</summary>
    public CountView? DocumentsIn { get; init; }

    /// <summary>Messages refused, failed or given up on the way in.</summary>
    public CountView? Refused { get; init; }

    /// <summary>Messages sent to outside.</summary>
    public CountView? DocumentsOut { get; init; }

    public CountView? DeadLettered { get; init; }

    public CountView? Parked { get; init; }

    /// <summary>From the adapter's hand-over until the first publish was confirmed.</summary>
    public LatencyView? InboundLatency { get; init; }

    /// <summary>From when an endpoint had a request until it had the answer.</summary>
    public LatencyView? RequestResponseLatency { get; init; }

    /// <summary>From when a message was taken from its queue until it was sent.</summary>
    public LatencyView? OutboundLatency { get; init; }

    /// <summary>Inside of the outbound adapter, attempt by attempt.</summary>
    public LatencyView? OutboundAdapterLatency { get; init; }

    public static MeasuredView Of(Measured measured) => new()
    {
        Name = measured.Name,
        DocumentsIn = CountView.Of(measured.Summarize(CounterKind.DocumentsIn)),
        Refused = CountView.Of(measured.Summarize(CounterKind.Refused)),
        DocumentsOut = CountView.Of(measured.Summarize(CounterKind.DocumentsOut)),
        DeadLettered = CountView.Of(measured.Summarize(CounterKind.DeadLettered)),
        Parked = CountView.Of(measured.Summarize(CounterKind.Parked)),
        InboundLatency = LatencyView.Of(measured.Summarize(LatencyKind.Inbound)),
        RequestResponseLatency = LatencyView.Of(measured.Summarize(LatencyKind.Request)),
        OutboundLatency = LatencyView.Of(measured.Summarize(LatencyKind.Outbound)),
        OutboundAdapterLatency = LatencyView.Of(measured.Summarize(LatencyKind.Adapter)),
    };
}

/// <summary>A count, and how fast it grows, in 1/s.</summary>
/// <param name="Total">Since the start.</param>
/// <param name="PerSecond10s">Over the last 10 s.</param>
/// <param name="PerSecond1m">Over the last minute.</param>
/// <param name="PerSecond5m">Over the last five minutes.</param>
/// <param name="PeakPerSecond">The most over any 10 s.</param>
internal sealed record CountView(long Total, double PerSecond10s, double PerSecond1m, double PerSecond5m, double PeakPerSecond)
{
    public static CountView? Of(CounterSummary? count) => count is null
        ? null
        : new CountView(count.Total, Round(count.Last10Seconds), Round(count.LastMinute), Round(count.Last5Minutes), Round(count.Peak));

    private static double Round(double rate) => Math.Round(rate, 2);
}

/// <summary>Durations in seconds: of the last five minutes, but for the count since the start and the longest since peaks were reset.</summary>
internal sealed record LatencyView(long Count, long Recent, double? Mean, double? P50, double? P95, double? P99, double Max)
{
    public static LatencyView? Of(DurationSummary? durations) => durations is null
        ? null
        : new LatencyView(
            durations.Count, durations.RecentCount, Round(durations.Mean), Round(durations.Percentile(0.5)), Round(durations.Percentile(0.95)), Round(durations.Percentile(0.99)), durations.Longest);

    private static double? Round(double? seconds) => seconds is { } value ? Math.Round(value, 6) : null;
}
