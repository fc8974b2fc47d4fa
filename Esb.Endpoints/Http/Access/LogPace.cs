namespace Esb.Endpoints.Http.Access;

/// <summary>Lets one line in a while into the log, however often it would be written: strangers cannot fill it. Thread-safe.</summary>
internal sealed class LogPace
{
    /// <summary>Between two lines.</summary>
    public static readonly TimeSpan Interval = TimeSpan.FromSeconds(10);

    private long _saidAt;
    private long _silent;

    /// <summary>How many lines were left out since the last one that was written; null where this one is left out too.</summary>
    public long? Next(TimeProvider time)
    {
        var now = time.GetTimestamp();
        var saidAt = Interlocked.Read(ref _saidAt);
        if ((saidAt == 0 || time.GetElapsedTime(saidAt, now) >= Interval) && Interlocked.CompareExchange(ref _saidAt, now, saidAt) == saidAt)
            return Interlocked.Exchange(ref _silent, 0);
        Interlocked.Increment(ref _silent);
        return null;
    }
}
