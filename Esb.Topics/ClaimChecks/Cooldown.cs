namespace Esb.Topics.ClaimChecks;

/// <summary>A time after something during which it does not happen again. Thread-safe.</summary>
internal sealed class Cooldown(TimeSpan length, TimeProvider time)
{
    private const long Never = long.MinValue;

    private long _began = Never;

    public bool IsRunning => Interlocked.Read(ref _began) is var began && began != Never && time.GetElapsedTime(began) < length;

    /// <summary>Begins it, unless it runs; true for one of those who try at the same time.</summary>
    public bool TryBegin()
    {
        var began = Interlocked.Read(ref _began);
        if (began != Never && time.GetElapsedTime(began) < length) return false;
        return Interlocked.CompareExchange(ref _began, time.GetTimestamp(), began) == began;
    }
}
