namespace Esb.Core.Diagnostics;

/// <summary>Limits a log line to one per interval, so that external systems cannot flood the log. Thread-safe.</summary>
/// <param name="time">The time.</param>
/// <param name="interval">Time between two lines; 10 s by default.</param>
public sealed class LogPace(TimeProvider time, TimeSpan? interval = null)
{
    /// <summary>Default time between two lines.</summary>
    public static readonly TimeSpan Interval = TimeSpan.FromSeconds(10);

    private readonly TimeSpan _interval = interval ?? Interval;
    private long _saidAt = -1;
    private long _silent;

    /// <summary>Number of lines suppressed since the last written line; null if this line is suppressed too.</summary>
    public long? Next()
    {
        var now = time.GetTimestamp();
        var saidAt = Interlocked.Read(ref _saidAt);
        if (
            (saidAt < 0 || time.GetElapsedTime(saidAt, now) >= _interval)
            && Interlocked.CompareExchange(ref _saidAt, now, saidAt) == saidAt
        )
            return Interlocked.Exchange(ref _silent, 0);
        Interlocked.Increment(ref _silent);
        return null;
    }
}
