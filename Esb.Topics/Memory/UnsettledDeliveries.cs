namespace Esb.Topics.Memory;

/// <summary>The deliveries of a lane that were taken from its queue and are not settled, in their order. Thread-safe.</summary>
internal sealed class UnsettledDeliveries
{
    private readonly Lock _gate = new();
    private readonly LinkedList<MemoryDelivery> _taken = [];

    /// <summary>Adds the delivery that was taken last.</summary>
    public LinkedListNode<MemoryDelivery> Add(MemoryDelivery delivery)
    {
        lock (_gate)
            return _taken.AddLast(delivery);
    }

    public void Remove(LinkedListNode<MemoryDelivery> place)
    {
        lock (_gate)
            _taken.Remove(place);
    }

    /// <summary>Returns them in the order in which they are put back at the head of their queue.</summary>
    public IReadOnlyList<MemoryDelivery> LastFirst()
    {
        lock (_gate)
            return [.. _taken.Reverse()];
    }
}
