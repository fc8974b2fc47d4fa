namespace Esb.Topics.RabbitMq.Connections;

/// <summary>Waits longer after each consecutive failure: from 1 s to 15 s, or to the given maximum.</summary>
internal sealed class Backoff(TimeProvider time, TimeSpan? longest = null)
{
    private static readonly TimeSpan Shortest = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan Longest = TimeSpan.FromSeconds(15);

    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(20);

    private readonly TimeSpan _longest = longest ?? Longest;
    private TimeSpan _next = Shortest;

    public void Reset() => _next = Shortest;

    /// <summary>Waits 20 s next: the operator has to act first, and the change is noticed within 30 s.</summary>
    public void Stretch() => _next = Patience;

    public async Task WaitAsync(CancellationToken cancellationToken)
    {
        var delay = _next;
        _next = delay * 2 < _longest ? delay * 2 : _longest;
        await Task.Delay(delay, time, cancellationToken);
    }
}
