namespace Esb.Delivery.Attempts;

/// <summary>Spaces the attempts of an endpoint, so that no more than <c>rate</c> begin in a second on this host. Thread-safe.</summary>
/// <remarks>Attempts that are late by up to 100 ms are made up for, because timers are coarser than the spaces of a high rate.</remarks>
internal sealed class SendPace(TimeProvider time)
{
    private static readonly TimeSpan Slack = TimeSpan.FromMilliseconds(100);

    private readonly Lock _lock = new();
    private readonly long _origin = time.GetTimestamp();
    private TimeSpan _next = TimeSpan.MinValue;
    private volatile int _rate;

    /// <summary>The most attempts in a second; 0 for no limit.</summary>
    public int Rate
    {
        get => _rate;
        set => _rate = value;
    }

    /// <summary>Waits until the next attempt may begin.</summary>
    public ValueTask WaitAsync(CancellationToken cancellationToken)
    {
        var rate = _rate;
        if (rate <= 0)
            return ValueTask.CompletedTask;
        TimeSpan wait;
        lock (_lock)
        {
            var now = time.GetElapsedTime(_origin);
            var begins = _next > now - Slack ? _next : now - Slack;
            _next = begins + (TimeSpan.FromSeconds(1) / rate);
            wait = begins - now;
        }

        return wait <= TimeSpan.Zero ? ValueTask.CompletedTask : new ValueTask(Task.Delay(wait, time, cancellationToken));
    }
}
