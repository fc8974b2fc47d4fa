namespace Esb.Core.Endpoints;

/// <summary>Counts concurrent items, and their peak. Thread-safe.</summary>
public sealed class PeakCount
{
    private int _value;
    private int _peak;

    /// <summary>Current count.</summary>
    public int Value => Volatile.Read(ref _value);

    /// <summary>Peak, since the start or the last <see cref="ResetPeak"/>.</summary>
    public int Peak => Volatile.Read(ref _peak);

    /// <summary>Adds one.</summary>
    /// <returns>The new count.</returns>
    public int Increment()
    {
        var value = Interlocked.Increment(ref _value);
        for (var peak = Volatile.Read(ref _peak); value > peak; )
        {
            var seen = Interlocked.CompareExchange(ref _peak, value, peak);
            if (seen == peak)
                break;
            peak = seen;
        }

        return value;
    }

    /// <summary>Removes one.</summary>
    /// <returns>The new count.</returns>
    public int Decrement() => Interlocked.Decrement(ref _value);

    /// <summary>Resets the peak to the current count.</summary>
    public void ResetPeak() => Volatile.Write(ref _peak, Value);
}
