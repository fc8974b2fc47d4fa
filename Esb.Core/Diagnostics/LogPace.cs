namespace Esb.Core.Diagnostics;

/// <summary>Lets one line in a while into the log, however often it would be written: strangers cannot fill it. Thread-safe.</summary>
/// <param name="time">The time.</param>
/// <param name="interval">Between two lines; 10 s where none is given.</param>
public sealed class LogPace(TimeProvider time, TimeSpan? interval = null)
{
    /// <summary>Between two lines, where nothing else is asked for.</summary>
    public static readonly TimeSpan Interval = TimeSpan.FromSeconds(10);

    private readonly TimeSpan _interval = interval ?? Interval;
    private long _saidAt = -1;
    private long _silent;

    /// <summary>How many lines were left out since the last one that was written; null where this one is left out too.</summary>
    public long? Next()
    {
        var now = time.GetTimestamp();
        var saidAt = Interlocked.Read(ref _saidAt);
        if ((saidAt < 0 || time.GetElapsedTime(saidAt, now) >= _interval) && Interlocked.CompareExchange(ref _saidAt, now, saidAt) == saidAt)
            return Interlocked.Exchange(ref _silent, 0);
        Interlocked.Increment(ref _silent);
        return null;
    }
}
