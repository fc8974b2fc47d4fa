namespace Esb.Core.Endpoints;

/// <summary>How many of something are under way, and how many were at most. Thread-safe.</summary>
public sealed class PeakCount
{
    private int _value;
    private int _peak;

    /// <summary>Now.</summary>
    public int Value => Volatile.Read(ref _value);

    /// <summary>At most, since the start or the last <see cref="ResetPeak"/>.</summary>
    public int Peak => Volatile.Read(ref _peak);

    /// <summary>One more.</summary>
    /// <returns>How many there are with it.</returns>
    public int Increment()
    {
        var value = Interlocked.Increment(ref _value);
        for (var peak = Volatile.Read(ref _peak); value > peak;)
        {
            var seen = Interlocked.CompareExchange(ref _peak, value, peak);
            if (seen == peak) break;
            peak = seen;
        }

        return value;
    }

    /// <summary>One less.</summary>
    /// <returns>How many are left.</returns>
    public int Decrement() => Interlocked.Decrement(ref _value);

    /// <summary>Begins with what there is now.</summary>
    public void ResetPeak() => Volatile.Write(ref _peak, Value);
}
