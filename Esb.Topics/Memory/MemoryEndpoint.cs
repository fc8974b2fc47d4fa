using Esb.Core.Topics;

namespace Esb.Topics.Memory;

/// <summary>The messages that wait for one endpoint: in one queue, or in lanes by key. Thread-safe.</summary>
internal sealed class MemoryEndpoint(string name, int? lanes)
{
    private int _waiting;

    /// <summary>The queue, or the lanes.</summary>
    public IReadOnlyList<MemoryQueue> Queues { get; } = [.. Enumerable.Range(0, lanes ?? 1).Select(_ => new MemoryQueue())];

    public string Name => name;

    public IReadOnlyList<SubjectPattern> Patterns { get; set; } = [];

    /// <summary>The number of deliveries that are not in progress, wherever they wait.</summary>
    public int Waiting => Volatile.Read(ref _waiting);

    public bool Wants(string subject) => Patterns.Any(pattern => pattern.Matches(subject));

    public void Add(MemoryDelivery delivery)
    {
        Interlocked.Increment(ref _waiting);
        QueueOf(delivery.Published.Message.Key).Add(delivery);
    }

    /// <summary>Marks a delivery as in progress.</summary>
    public void Begin() => Interlocked.Decrement(ref _waiting);

    /// <summary>Marks a delivery as waiting until it is settled, deferred or returned.</summary>
    public void End() => Interlocked.Increment(ref _waiting);

    /// <summary>Removes a waiting delivery from the count.</summary>
    public void Leave() => Interlocked.Decrement(ref _waiting);

    // Messages without a key share a lane, as they do behind the broker's exchange.
    private MemoryQueue QueueOf(string? key) =>
        Queues[(int)((uint)string.GetHashCode(key ?? "", StringComparison.Ordinal) % (uint)Queues.Count)];
}
