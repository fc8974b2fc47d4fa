using Esb.Core.Activities;
using Esb.Core.Diagnostics;

namespace Esb.Audit.Activities;

/// <summary>Gathers durations between two milestones. Not thread-safe.</summary>
internal sealed class ActivityDurations(string from, string to)
{
    private readonly long[] _counts = new long[DurationBuckets.Count];
    private long _count;
    private double _sum;
    private double _max;

    public void Add(TimeSpan duration)
    {
        if (duration < TimeSpan.Zero)
            return; // passed the other way round
        var seconds = duration.TotalSeconds;
        _counts[DurationBuckets.IndexOf(seconds)]++;
        _count++;
        _sum += seconds;
        _max = Math.Max(_max, seconds);
    }

    public MilestoneDurations ToReport() =>
        _count == 0
            ? new MilestoneDurations(from, to, 0, null, null, null, null, null)
            : new MilestoneDurations(from, to, _count, _sum / _count, Percentile(0.5), Percentile(0.95), Percentile(0.99), _max);

    // The middle of the last bucket may lie behind the longest.
    private double? Percentile(double share) => DurationBuckets.Percentile(_counts, share) is { } seconds ? Math.Min(seconds, _max) : null;
}
