namespace Esb.Delivery.Outbound;

/// <summary>Measures the instances that the sends of an endpoint occupy, by Little's law: arrivals a second times seconds in the endpoint.
/// Thread-safe.</summary>
internal sealed class SendDemand(TimeProvider time)
{
    /// <summary>Sends below which nothing is said.</summary>
    public const int Least = 100;

    private static readonly TimeSpan Window = TimeSpan.FromMinutes(1);

    private readonly Lock _lock = new();
    private long _began = time.GetTimestamp();
    private TimeSpan _spent;
    private double _busiest;
    private long _count;

    /// <summary>The number of sends measured.</summary>
    public long Count
    {
        get
        {
            lock (_lock)
                return _count;
        }
    }

    /// <summary>The average number of occupied instances in the busiest minute.</summary>
    public double Busiest
    {
        get
        {
            lock (_lock)
            {
                Turn();
                return Math.Max(_busiest, _spent / Window);
            }
        }
    }

    /// <summary>Adds a send.</summary>
    public void Add(TimeSpan duration)
    {
        lock (_lock)
        {
            Turn();
            _spent += duration;
            _count++;
        }
    }

    private void Turn()
    {
        if (time.GetElapsedTime(_began) < Window)
            return;
        (_busiest, _began, _spent) = (Math.Max(_busiest, _spent / Window), time.GetTimestamp(), TimeSpan.Zero);
    }
}
