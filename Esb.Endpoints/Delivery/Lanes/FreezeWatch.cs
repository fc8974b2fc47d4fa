namespace Esb.Endpoints.Delivery.Lanes;

/// <summary>Notices that the process stood still for some time: others may have taken over meanwhile what it believes to have. Thread-safe.</summary>
internal sealed class FreezeWatch(TimeProvider time)
{
    /// <summary>How often <see cref="Tick"/> is to be called.</summary>
    public static readonly TimeSpan Interval = TimeSpan.FromSeconds(1);

    private static readonly TimeSpan Longest = TimeSpan.FromSeconds(5);

    private readonly Lock _gate = new();
    private long _lastTick = time.GetTimestamp();
    private int _freezes;

    /// <summary>How often it stood still, counting the present moment.</summary>
    public int Freezes
    {
        get
        {
            lock (_gate)
            {
                // Whoever looks first after a freeze finds it, not only the timer.
                Count();
                return _freezes;
            }
        }
    }

    public void Tick()
    {
        lock (_gate)
        {
            Count();
            _lastTick = time.GetTimestamp();
        }
    }

    private void Count()
    {
        if (time.GetElapsedTime(_lastTick) <= Longest) return;
        _freezes++;
        _lastTick = time.GetTimestamp();
    }
}
