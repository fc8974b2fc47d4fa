using Esb.Core.Diagnostics;

namespace Esb.Host.Metrics;

/// <summary>Durations at one moment, in the buckets of <see cref="DurationBuckets"/>; times in seconds.</summary>
/// <param name="All">Since the start.</param>
/// <param name="Sum">Their sum.</param>
/// <param name="Recent">Of the last five minutes, or since the start.</param>
/// <param name="RecentSum">Their sum.</param>
/// <param name="Longest">The longest since the start or since peaks were reset.</param>
internal sealed record DurationSummary(long[] All, double Sum, long[] Recent, double RecentSum, double Longest)
{
    public long Count => All.Sum();

    public long RecentCount => Recent.Sum();

    /// <summary>The mean of the last five minutes; null where there was nothing.</summary>
    public double? Mean => RecentCount is > 0 and var count ? RecentSum / count : null;

    /// <summary>The duration that a share of the last five minutes' stayed below, within 6.25 %; null where there was nothing.</summary>
    /// <param name="share">From 0 to 1.</param>
    public double? Percentile(double share) => DurationBuckets.Percentile(Recent, share);

    /// <summary>How many since the start took no longer than this.</summary>
    public long CountUpTo(double seconds)
    {
        var last = DurationBuckets.IndexOf(seconds);
        return All.AsSpan(0, last).ToArray().Sum();
    }
}
