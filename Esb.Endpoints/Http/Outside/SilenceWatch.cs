namespace Esb.Endpoints.Http.Outside;

/// <summary>Detects an external system that is silent for too long. Time spent waiting for the caller does not count; the server enforces
/// the caller's pace. Thread-safe.</summary>
internal sealed class SilenceWatch(TimeProvider time)
{
    private const long Nobody = 0;
    private const long Over = -1;

    private long _patience;
    private long _deadline; // a timestamp, or one of the constants above

    /// <summary>True if the external system was silent for too long.</summary>
    public bool HasElapsed => Volatile.Read(ref _deadline) == Over;

    public void Begin(TimeSpan patience)
    {
        _patience = (long)(patience.TotalSeconds * time.TimestampFrequency);
        Restart();
    }

    /// <summary>Starts the time-out of the external system.</summary>
    public void Restart() => Set(time.GetTimestamp() + _patience);

    /// <summary>Suspends the time-out.</summary>
    public void Pause() => Set(Nobody);

    /// <summary>Ends the time-out; false if it has already elapsed.</summary>
    public bool End()
    {
        Pause();
        return !HasElapsed;
    }

    /// <summary>True, once, if the time-out has elapsed.</summary>
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
            if (seen == before)
                return;
            before = seen;
        }
    }
}
