namespace Esb.Host.Metrics;

/// <summary>A counter of one kind for one endpoint, topic or party, with its growth rates. Adding is thread-safe and does not allocate; one
/// sampler at a time.</summary>
internal sealed class CounterSeries
{
    /// <summary>The number of samples kept: five minutes, one per second.</summary>
    public const int Samples = 300;

    private const int PeakSamples = 10;
    private const double PeakSeconds = 10;

    private readonly long[] _past = new long[Samples];
    private readonly long[] _times = new long[Samples]; // in ticks
    private long _total;
    private double _peak;
    private int _next;
    private int _kept;

    /// <summary>The total since the start.</summary>
    public long Total => Interlocked.Read(ref _total);

    public void Add(long count) => Interlocked.Add(ref _total, count);

    /// <summary>Takes a sample; called once a second.</summary>
    /// <param name="now">The time, in ticks of any monotonic clock.</param>
    public void Sample(long now)
    {
        lock (_past)
        {
            if (_kept == 0)
                Keep(0, now - TimeSpan.TicksPerSecond); // the first count creates the series, after the previous sample
            Keep(Interlocked.Read(ref _total), now);
            var (growth, seconds) = GrowthOver(PeakSamples);
            _peak = Math.Max(_peak, growth / Math.Max(seconds, PeakSeconds));
        }
    }

    public void ResetPeak()
    {
        lock (_past)
            _peak = 0;
    }

    public CounterSummary Summarize()
    {
        lock (_past)
            return new CounterSummary(Interlocked.Read(ref _total), RateOver(10), RateOver(60), RateOver(Samples - 1), _peak);
    }

    private void Keep(long total, long now)
    {
        (_past[_next], _times[_next]) = (total, now);
        _next = (_next + 1) % Samples;
        _kept = Math.Min(_kept + 1, Samples);
    }

    private double RateOver(int samples)
    {
        var (growth, seconds) = GrowthOver(samples);
        return seconds > 0 ? growth / seconds : 0;
    }

    // The rate between two samples, so that both ends are known: from the sample this many seconds ago, or the oldest, to the last one.
    private (long Growth, double Seconds) GrowthOver(int samples)
    {
        if (_kept == 0)
            return (0, 0);
        var last = (_next + Samples - 1) % Samples;
        var first = (last + Samples - Math.Min(samples, _kept - 1)) % Samples;
        return (_past[last] - _past[first], TimeSpan.FromTicks(_times[last] - _times[first]).TotalSeconds);
    }
}

/// <summary>A counter value at one moment; rates in 1/s.</summary>
/// <param name="Total">The total since the start.</param>
/// <param name="Last10Seconds">The rate over the last 10 s.</param>
/// <param name="LastMinute">The rate over the last minute.</param>
/// <param name="Last5Minutes">The rate over the last five minutes.</param>
/// <param name="Peak">The highest rate over any 10 s, since the start or the last peak reset.</param>
internal sealed record CounterSummary(long Total, double Last10Seconds, double LastMinute, double Last5Minutes, double Peak);
