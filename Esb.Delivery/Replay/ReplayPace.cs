namespace Esb.Delivery.Replay;

/// <summary>Limits messages to an even rate. Thread-safe.</summary>
/// <param name="rate">Messages per second; null for unlimited.</param>
/// <param name="time">The clock.</param>
internal sealed class ReplayPace(double? rate, TimeProvider time)
{
    private readonly Lock _gate = new();
    private DateTimeOffset _next = DateTimeOffset.MinValue;

    public Task WaitAsync(CancellationToken cancellationToken)
    {
        if (rate is not { } perSecond)
            return Task.CompletedTask;
        TimeSpan wait;
        lock (_gate)
        {
            var now = time.GetUtcNow();
            if (_next < now)
                _next = now; // unused capacity does not accumulate
            wait = _next - now;
            _next += TimeSpan.FromSeconds(1 / perSecond);
        }

        return wait > TimeSpan.Zero ? Task.Delay(wait, time, cancellationToken) : Task.CompletedTask;
    }
}
