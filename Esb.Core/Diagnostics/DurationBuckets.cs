using System.Numerics;

namespace Esb.Core.Diagnostics;

/// <summary>Buckets for durations of 1 µs to 50 days, eight to each doubling: the middle of a bucket is within 6.25 % of what is in it (after HdrHistogram, http://hdrhistogram.org).</summary>
public static class DurationBuckets
{
    private const int SubBits = 3;
    private const int SubBuckets = 1 << SubBits;
    private const int Doublings = 42;

    /// <summary>How many there are.</summary>
    public const int Count = (Doublings - SubBits + 1) * SubBuckets;

    private const long MostMicroseconds = (1L << Doublings) - 1;

    /// <summary>The bucket of a duration; what is longer than the last one is in it.</summary>
    public static int IndexOf(double seconds)
    {
        var value = (long)Math.Clamp(seconds * 1e6, 0, MostMicroseconds);
        if (value < SubBuckets) return (int)value;
        var shift = BitOperations.Log2((ulong)value) - SubBits;
        return ((shift + 1) << SubBits) + (int)((value >> shift) - SubBuckets);
    }

    /// <summary>The middle of a bucket, in seconds.</summary>
    public static double MiddleOf(int index) => index < SubBuckets ? (index + 0.5) / 1e6 : (LowerOf(index) + LowerOf(index + 1)) / 2;

    /// <summary>Where a bucket begins, in seconds.</summary>
    public static double LowerOf(int index)
    {
        if (index < SubBuckets) return index / 1e6;
        var shift = (index >> SubBits) - 1;
        return ((long)(SubBuckets + (index & (SubBuckets - 1))) << shift) / 1e6;
    }

    /// <summary>The duration that a share of what was counted stayed below, in seconds; null where nothing was.</summary>
    /// <param name="counts">How many are in each bucket.</param>
    /// <param name="share">From 0 to 1.</param>
    public static double? Percentile(ReadOnlySpan<long> counts, double share)
    {
        long total = 0;
        foreach (var count in counts) total += count;
        var rank = (long)Math.Ceiling(total * share);
        for (var index = 0; index < counts.Length && rank > 0; index++)
        {
            rank -= counts[index];
            if (rank <= 0) return MiddleOf(index);
        }

        return null;
    }
}
