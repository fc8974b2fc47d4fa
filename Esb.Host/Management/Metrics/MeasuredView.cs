using Esb.Host.Metrics;

namespace Esb.Host.Management.Metrics;

/// <summary>The metrics of an endpoint, a topic or a party. Metrics without a value are omitted.</summary>
internal sealed record MeasuredView
{
    public required string Name { get; init; }

    /// <summary>Messages received; for a topic, messages published to it.</summary>
    public CountView? DocumentsIn { get; init; }

    /// <summary>Messages refused, failed or aborted on the way in.</summary>
    public CountView? Refused { get; init; }

    /// <summary>Messages sent to external systems.</summary>
    public CountView? DocumentsOut { get; init; }

    public CountView? DeadLettered { get; init; }

    public CountView? Parked { get; init; }

    /// <summary>The time from the adapter's hand-over to the first publish confirm.</summary>
    public LatencyView? InboundLatency { get; init; }

    /// <summary>The time from the receipt of a request to its answer.</summary>
    public LatencyView? RequestResponseLatency { get; init; }

    /// <summary>The time from taking a message from its queue to sending it.</summary>
    public LatencyView? OutboundLatency { get; init; }

    /// <summary>The time inside the outbound adapter, for each attempt.</summary>
    public LatencyView? OutboundAdapterLatency { get; init; }

    public static MeasuredView Of(Measured measured) =>
        new()
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

/// <summary>A count and its rates, in 1/s.</summary>
/// <param name="Total">The total since the start.</param>
/// <param name="PerSecond10s">The rate over the last 10 s.</param>
/// <param name="PerSecond1m">The rate over the last minute.</param>
/// <param name="PerSecond5m">The rate over the last five minutes.</param>
/// <param name="PeakPerSecond">The highest rate over any 10 s.</param>
internal sealed record CountView(long Total, double PerSecond10s, double PerSecond1m, double PerSecond5m, double PeakPerSecond)
{
    public static CountView? Of(CounterSummary? count) =>
        count is null
            ? null
            : new CountView(count.Total, Round(count.Last10Seconds), Round(count.LastMinute), Round(count.Last5Minutes), Round(count.Peak));

    private static double Round(double rate) => Math.Round(rate, 2);
}

/// <summary>Durations in seconds over the last five minutes, except the count since the start and the maximum since the last peak
/// reset.</summary>
internal sealed record LatencyView(long Count, long Recent, double? Mean, double? P50, double? P95, double? P99, double Max)
{
    public static LatencyView? Of(DurationSummary? durations) =>
        durations is null
            ? null
            : new LatencyView(
                durations.Count,
                durations.RecentCount,
                Round(durations.Mean),
                Round(durations.Percentile(0.5)),
                Round(durations.Percentile(0.95)),
                Round(durations.Percentile(0.99)),
                durations.Longest
            );

    private static double? Round(double? seconds) => seconds is { } value ? Math.Round(value, 6) : null;
}
