namespace Esb.Delivery.Replay;

/// <summary>Lets messages go at an even rate. Thread-safe.</summary>
/// <param name="rate">Messages per second; null for no bound.</param>
/// <param name="time">The clock.</param>
internal sealed class ReplayPace(double? rate, TimeProvider time)
{
    private readonly Lock _gate = new();
    private DateTimeOffset _next = DateTimeOffset.MinValue;

    public Task WaitAsync(CancellationToken cancellationToken)
    {
        if (rate is not { } perSecond) return Task.CompletedTask;
        TimeSpan wait;
        lock (_gate)
        {
            var now = time.GetUtcNow();
            if (_next < now) _next = now; // what was not used is not made up for
            wait = _next - now;
            _next += TimeSpan.FromSeconds(1 / perSecond);
        }

        return wait > TimeSpan.Zero ? Task.Delay(wait, time, cancellationToken) : Task.CompletedTask;
    }
}
