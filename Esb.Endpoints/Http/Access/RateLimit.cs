namespace Esb.Endpoints.Http.Access;

/// <summary>Rate limit that allows a burst after a pause: a leaky bucket in the form of ATM's generic cell rate algorithm (ITU-T I.371).
/// Thread-safe; allocates nothing.</summary>
internal sealed class RateLimit(RateLimitConfig config, TimeProvider time)
{
    private readonly long _pace = Math.Max(1, (long)(config.Per.TotalSeconds * time.TimestampFrequency / config.Calls));
    private readonly long _burst = config.Burst ?? config.Calls;
    private long _expected;

    /// <summary>Takes a call. Returns zero if the call may proceed, otherwise the time to wait; the call then does not count.</summary>
    public TimeSpan Take()
    {
        var now = time.GetTimestamp();
        var expected = Volatile.Read(ref _expected);
        while (true)
        {
            var early = expected - now - ((_burst - 1) * _pace);
            if (expected != 0 && early > 0)
                return TimeSpan.FromSeconds((double)early / time.TimestampFrequency);
            var seen = Interlocked.CompareExchange(ref _expected, Math.Max(now, expected) + _pace, expected);
            if (seen == expected)
                return TimeSpan.Zero;
            expected = seen;
        }
    }
}
