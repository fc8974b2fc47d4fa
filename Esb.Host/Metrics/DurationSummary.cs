using Esb.Core.Diagnostics;

namespace Esb.Host.Metrics;

/// <summary>Durations at one moment, in the buckets of <see cref="DurationBuckets"/>; times in seconds.</summary>
/// <param name="All">The counts since the start.</param>
/// <param name="Sum">The sum since the start.</param>
/// <param name="Recent">The counts of the last five minutes, or since the start.</param>
/// <param name="RecentSum">The sum of the recent durations.</param>
/// <param name="Longest">The maximum since the start or the last peak reset.</param>
internal sealed record DurationSummary(long[] All, double Sum, long[] Recent, double RecentSum, double Longest)
{
    public long Count => All.Sum();

    public long RecentCount => Recent.Sum();

    /// <summary>The mean of the last five minutes; null without values.</summary>
    public double? Mean => RecentCount is > 0 and var count ? RecentSum / count : null;

    /// <summary>The quantile of the durations of the last five minutes, within 6.25 %; null without values.</summary>
    /// <param name="share">The quantile, from 0 to 1.</param>
    public double? Percentile(double share) => DurationBuckets.Percentile(Recent, share);

    /// <summary>The number of durations since the start up to this limit.</summary>
    public long CountUpTo(double seconds)
    {
        var last = DurationBuckets.IndexOf(seconds);
        return All.AsSpan(0, last).ToArray().Sum();
    }
}
