namespace Esb.Endpoints.Http.Outside;

/// <summary>When the outside has been silent for too long. It does not count while the caller is waited for, whose pace the server sees to. Thread-safe.</summary>
internal sealed class SilenceWatch(TimeProvider time)
{
    private const long Nobody = 0;
    private const long Over = -1;

    private long _patience;
    private long _deadline; // a timestamp, or one of the two above

    /// <summary>Whether the outside was silent for too long.</summary>
    public bool HasElapsed => Volatile.Read(ref _deadline) == Over;

    public void Begin(TimeSpan patience)
    {
        _patience = (long)(patience.TotalSeconds * time.TimestampFrequency);
        Restart();
    }

    /// <summary>The outside is waited for from now on.</summary>
    public void Restart() => Set(time.GetTimestamp() + _patience);

    /// <summary>The outside is not waited for.</summary>
    public void Pause() => Set(Nobody);

    /// <summary>Nothing is waited for any more; false where it was too late.</summary>
    public bool End()
    {
        Pause();
        return !HasElapsed;
    }

    /// <summary>Whether the time is up; true once.</summary>
    public bool Elapses(long now)
    {
        var deadline = Volatile.Read(ref _deadline);
        return deadline > 0 && deadline <= now && Interlocked.CompareExchange(ref _deadline, Over, deadline) == deadline;
    }

    private void Set(long deadline)
    {
        var before = Volatile.Read(ref _deadline);
        while (before != Over)
        {
            var seen = Interlocked.CompareExchange(ref _deadline, deadline, before);
            if (seen == before) return;
            before = seen;
        }
    }
}
