using Esb.Core.Diagnostics;

namespace Esb.Host.Metrics;

/// <summary>Durations of one kind for one endpoint, topic or party. Recording is thread-safe and does not allocate; one sampler at a
/// time.</summary>
internal sealed class DurationSeries
{
    // A window of five minutes, in steps of one minute.
    private const int Steps = 5;

    private readonly long[] _counts = new long[DurationBuckets.Count];
    private readonly long[][] _past = new long[Steps][];
    private readonly long[] _pastSums = new long[Steps];
    private long _sum; // in microseconds
    private long _longest;
    private int _step;

    public void Record(double seconds)
    {
        var micros = (long)(Math.Max(seconds, 0) * 1e6);
        Interlocked.Increment(ref _counts[DurationBuckets.IndexOf(seconds)]);
        Interlocked.Add(ref _sum, micros);
        for (var longest = Volatile.Read(ref _longest); micros > longest; )
        {
            var seen = Interlocked.CompareExchange(ref _longest, micros, longest);
            if (seen == longest)
                return;
            longest = seen;
        }
    }

    /// <summary>Advances the window; called once a minute. Values recorded five steps ago leave the window.</summary>
    public void Step()
    {
        lock (_past)
        {
            _past[_step] = Copy();
            _pastSums[_step] = Interlocked.Read(ref _sum);
            _step = (_step + 1) % Steps;
        }
    }

    public void ResetPeak() => Interlocked.Exchange(ref _longest, 0);

    public DurationSummary Summarize()
    {
        var all = Copy();
        var sum = Interlocked.Read(ref _sum);
        long[] recent = [.. all];
        var recentSum = sum;
        lock (_past)
        {
            if (_past[_step] is { } before)
            {
                for (var index = 0; index < recent.Length; index++)
                    recent[index] -= before[index];
                recentSum -= _pastSums[_step];
            }
        }

        return new DurationSummary(all, sum / 1e6, recent, recentSum / 1e6, Interlocked.Read(ref _longest) / 1e6);
    }

    private long[] Copy()
    {
        var copy = new long[_counts.Length];
        for (var index = 0; index < copy.Length; index++)
            copy[index] = Volatile.Read(ref _counts[index]);
        return copy;
    }
}
