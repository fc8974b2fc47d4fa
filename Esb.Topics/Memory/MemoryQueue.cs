namespace Esb.Topics.Memory;

/// <summary>Messages that wait, the oldest first; they stay when a subscription ends. Thread-safe.</summary>
/// <remarks>Without a bound of its own: the transport bounds the messages of all queues together.</remarks>
internal sealed class MemoryQueue
{
    private readonly Lock _gate = new();
    private readonly LinkedList<MemoryDelivery> _waiting = [];
    private readonly SemaphoreSlim _count = new(0);

    /// <summary>Held by the one subscription that works, where only one may.</summary>
    public SemaphoreSlim Active { get; } = new(1, 1);

    public void Add(MemoryDelivery delivery)
    {
        lock (_gate) _waiting.AddLast(delivery);
        _count.Release();
    }

    /// <summary>Puts a delivery back to where it was: before all others.</summary>
    public void PutBack(MemoryDelivery delivery)
    {
        lock (_gate) _waiting.AddFirst(delivery);
        _count.Release();
    }

    public async Task<MemoryDelivery> TakeAsync(CancellationToken cancellationToken)
    {
        await _count.WaitAsync(cancellationToken);
        lock (_gate)
        {
            var first = _waiting.First!.Value;
            _waiting.RemoveFirst();
            return first;
        }
    }
}
