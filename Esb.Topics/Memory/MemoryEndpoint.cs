using Esb.Core.Topics;

namespace Esb.Topics.Memory;

/// <summary>What waits for one endpoint: in one queue, or in lanes by key. Thread-safe.</summary>
internal sealed class MemoryEndpoint(string name, int? lanes)
{
    private int _waiting;

    /// <summary>Its queue, or its lanes.</summary>
    public IReadOnlyList<MemoryQueue> Queues { get; } = [.. Enumerable.Range(0, lanes ?? 1).Select(_ => new MemoryQueue())];

    public string Name => name;

    public IReadOnlyList<SubjectPattern> Patterns { get; set; } = [];

    /// <summary>Deliveries that nobody works on now, wherever they wait for it.</summary>
    public int Waiting => Volatile.Read(ref _waiting);

    public bool Wants(string subject) => Patterns.Any(pattern => pattern.Matches(subject));

    public void Add(MemoryDelivery delivery)
    {
        Interlocked.Increment(ref _waiting);
        QueueOf(delivery.Published.Message.Key).Add(delivery);
    }

    /// <summary>Somebody works on a delivery.</summary>
    public void Begin() => Interlocked.Decrement(ref _waiting);

    /// <summary>Nobody does any more: it waits until it is settled, put off or returned.</summary>
    public void End() => Interlocked.Increment(ref _waiting);

    /// <summary>A delivery that waited is gone from here.</summary>
    public void Leave() => Interlocked.Decrement(ref _waiting);

    // Messages without a key share a lane, as behind the broker's exchange.
    private MemoryQueue QueueOf(string? key) => Queues[(int)((uint)string.GetHashCode(key ?? "", StringComparison.Ordinal) % (uint)Queues.Count)];
}
