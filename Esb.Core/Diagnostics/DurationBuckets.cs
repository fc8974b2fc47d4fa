using System.Numerics;

namespace Esb.Core.Diagnostics;

/// <summary>Buckets for durations of 1 µs to 50 days, eight per doubling: the middle of a bucket is within 6.25 % of its content (after
/// HdrHistogram, http://hdrhistogram.org).</summary>
public static class DurationBuckets
{
    private const int SubBits = 3;
    private const int SubBuckets = 1 << SubBits;
    private const int Doublings = 42;

    /// <summary>Number of buckets.</summary>
    public const int Count = (Doublings - SubBits + 1) * SubBuckets;

    private const long MostMicroseconds = (1L << Doublings) - 1;

    /// <summary>Bucket of a duration; longer durations fall into the last bucket.</summary>
    public static int IndexOf(double seconds)
    {
        var value = (long)Math.Clamp(seconds * 1e6, 0, MostMicroseconds);
        if (value < SubBuckets)
            return (int)value;
        var shift = BitOperations.Log2((ulong)value) - SubBits;
        return ((shift + 1) << SubBits) + (int)((value >> shift) - SubBuckets);
    }

    /// <summary>Middle of a bucket, in seconds.</summary>
    public static double MiddleOf(int index) => index < SubBuckets ? (index + 0.5) / 1e6 : (LowerOf(index) + LowerOf(index + 1)) / 2;

    /// <summary>Lower bound of a bucket, in seconds.</summary>
    public static double LowerOf(int index)
    {
        if (index < SubBuckets)
            return index / 1e6;
        var shift = (index >> SubBits) - 1;
        return ((long)(SubBuckets + (index & (SubBuckets - 1))) << shift) / 1e6;
    }

    /// <summary>Duration below which the given share of the counted durations lies, in seconds; null if nothing was counted.</summary>
    /// <param name="counts">Number of durations in each bucket.</param>
    /// <param name="share">From 0 to 1.</param>
    public static double? Percentile(ReadOnlySpan<long> counts, double share)
    {
        long total = 0;
        foreach (var count in counts)
            total += count;
        var rank = (long)Math.Ceiling(total * share);
        for (var index = 0; index < counts.Length && rank > 0; index++)
        {
            rank -= counts[index];
            if (rank <= 0)
                return MiddleOf(index);
        }

        return null;
    }
}
