namespace Esb.Topics.ClaimChecks;

/// <summary>A period after an event during which the event is not repeated. Thread-safe.</summary>
internal sealed class Cooldown(TimeSpan length, TimeProvider time)
{
    private const long Never = long.MinValue;

    private long _began = Never;

    public bool IsRunning => Interlocked.Read(ref _began) is var began && began != Never && time.GetElapsedTime(began) < length;

    /// <summary>Starts the period unless it is running; true for only one of several concurrent callers.</summary>
    public bool TryBegin()
    {
        var began = Interlocked.Read(ref _began);
        if (began != Never && time.GetElapsedTime(began) < length)
            return false;
        return Interlocked.CompareExchange(ref _began, time.GetTimestamp(), began) == began;
    }
}
