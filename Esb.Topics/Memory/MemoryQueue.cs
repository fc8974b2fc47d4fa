namespace Esb.Topics.Memory;

/// <summary>Waiting messages, oldest first; they remain when a subscription ends. Thread-safe.</summary>
/// <remarks>The queue has no limit of its own: the transport limits the messages of all queues together.</remarks>
internal sealed class MemoryQueue
{
    private readonly Lock _gate = new();
    private readonly LinkedList<MemoryDelivery> _waiting = [];
    private readonly SemaphoreSlim _count = new(0);

    /// <summary>Held by the active subscription if only one may be active.</summary>
    public SemaphoreSlim Active { get; } = new(1, 1);

    public void Add(MemoryDelivery delivery)
    {
        lock (_gate)
            _waiting.AddLast(delivery);
        _count.Release();
    }

    /// <summary>Returns a delivery to its place at the head of the queue.</summary>
    public void PutBack(MemoryDelivery delivery)
    {
        lock (_gate)
            _waiting.AddFirst(delivery);
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
