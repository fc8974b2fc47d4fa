namespace Esb.Endpoints.Http.Transport;

/// <summary>Measures how long one socket holds its thread, while the others of the thread wait. For the thread that is measured, but for
/// <see cref="HeldSince"/>.</summary>
/// <param name="time">The time.</param>
/// <param name="stalled">How long the thread has stood still so far, for reasons that no code on it can help; asked ten times a second at
/// most, and after each long hold.</param>
internal sealed class HoldWatch(TimeProvider time, Func<TimeSpan> stalled)
{
    /// <summary>A socket may hold its thread this long.</summary>
    public static readonly TimeSpan Limit = TimeSpan.FromMilliseconds(50);

    // What the thread stood still before the hold, but for no longer than this, counts as part of it: a hold is never overstated.
    private static readonly TimeSpan MaxAge = TimeSpan.FromMilliseconds(100);

    private long _heldSince;
    private long _began;
    private long _askedAt;
    private TimeSpan _stalled = stalled();

    /// <summary>Timestamp at which the current socket began; 0 while none does. Thread-safe.</summary>
    public long HeldSince => Volatile.Read(ref _heldSince);

    /// <summary>The next socket begins.</summary>
    public void Begin()
    {
        _began = time.GetTimestamp();
        if (time.GetElapsedTime(_askedAt, _began) >= MaxAge)
            (_stalled, _askedAt) = (stalled(), _began);
        Volatile.Write(ref _heldSince, _began);
    }

    /// <summary>The socket has ended.</summary>
    /// <returns>How long it held the thread, if longer than <see cref="Limit"/>.</returns>
    public TimeSpan? End()
    {
        Volatile.Write(ref _heldSince, 0);
        var held = time.GetElapsedTime(_began);
        if (held <= Limit)
            return null;
        held -= stalled() - _stalled;
        _askedAt = 0;
        return held > Limit ? held : null;
    }
}
