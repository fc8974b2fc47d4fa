namespace Esb.Topics.RabbitMq.Connections;

/// <summary>Waits longer after each failure in a row: from 1 s to 15 s, or to what is given.</summary>
internal sealed class Backoff(TimeProvider time, TimeSpan? longest = null)
{
    private static readonly TimeSpan Shortest = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan Longest = TimeSpan.FromSeconds(15);

    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(20);

    private readonly TimeSpan _longest = longest ?? Longest;
    private TimeSpan _next = Shortest;

    public void Reset() => _next = Shortest;

    /// <summary>Waits 20 s next: somebody has to do something first, and is seen within 30 s of it.</summary>
    public void Stretch() => _next = Patience;

    public async Task WaitAsync(CancellationToken cancellationToken)
    {
        var delay = _next;
        _next = delay * 2 < _longest ? delay * 2 : _longest;
        await Task.Delay(delay, time, cancellationToken);
    }
}
