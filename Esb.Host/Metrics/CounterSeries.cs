namespace Esb.Host.Metrics;

/// <summary>A count of one kind, of one endpoint, topic or party, and how fast it grew. Adding is thread-safe and allocates nothing; one sampler at a time.</summary>
internal sealed class CounterSeries
{
    /// <summary>Samples that are looked back at: five minutes, one a second.</summary>
    public const int Samples = 300;

    private const int PeakSamples = 10;

    private readonly long[] _past = new long[Samples];
    private readonly long[] _times = new long[Samples]; // when, in ticks; 0 where there is no sample yet
    private long _total;
    private double _peak;
    private int _next;

    public void Add(long count) => Interlocked.Add(ref _total, count);

    /// <summary>Once a second.</summary>
    /// <param name="now">In ticks of any steady clock that began above 0.</param>
    public void Sample(long now)
    {
        lock (_past)
        {
            (_past[_next], _times[_next]) = (Interlocked.Read(ref _total), now);
            _next = (_next + 1) % Samples;
            if (RateOver(PeakSamples) is { } rate) _peak = Math.Max(_peak, rate);
        }
    }

    public void ResetPeak()
    {
        lock (_past) _peak = 0;
    }

    public CounterSummary Summarize()
    {
        lock (_past) return new CounterSummary(Interlocked.Read(ref _total), RateOver(10) ?? 0, RateOver(60) ?? 0, RateOver(Samples - 1) ?? 0, _peak);
    }

    // Between two samples, so that both ends are known: the last one, and one so many before it, or the first there is.
    private double? RateOver(int samples)
    {
        var last = (_next + Samples - 1) % Samples;
        if (_times[last] == 0) return null;
        var first = last;
        for (var back = 0; back < samples; back++)
        {
            var before = (first + Samples - 1) % Samples;
            if (_times[before] == 0 || before == last) break;
            first = before;
        }

        var seconds = TimeSpan.FromTicks(_times[last] - _times[first]).TotalSeconds;
        return seconds > 0 ? (_past[last] - _past[first]) / seconds : null;
    }
}

/// <summary>A count at one moment; rates in 1/s.</summary>
/// <param name="Total">Since the start.</param>
/// <param name="Last10Seconds">Over the last 10 s.</param>
/// <param name="LastMinute">Over the last minute.</param>
/// <param name="Last5Minutes">Over the last five minutes.</param>
/// <param name="Peak">The highest over any 10 s, since the start or since peaks were reset.</param>
internal sealed record CounterSummary(long Total, double Last10Seconds, double LastMinute, double Last5Minutes, double Peak);
