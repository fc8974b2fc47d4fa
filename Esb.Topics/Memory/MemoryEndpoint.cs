using Esb.Core.Topics;

namespace Esb.Topics.Memory;

/// <summary>What waits for one endpoint: in one queue, or in lanes by key. Thread-safe.</summary>
internal sealed class MemoryEndpoint(string name, int? lanes)
{
    /// <summary>Its queue, or its lanes.</summary>
    public IReadOnlyList<MemoryQueue> Queues { get; } = [.. Enumerable.Range(0, lanes ?? 1).Select(_ => new MemoryQueue())];

    public string Name => name;

    public IReadOnlyList<SubjectPattern> Patterns { get; set; } = [];

    public bool Wants(string subject) => Patterns.Any(pattern => pattern.Matches(subject));

    public void Add(MemoryDelivery delivery) => QueueOf(delivery.Published.Message.Key).Add(delivery);

    // Messages without a key share a lane, as behind the broker's exchange.
    private MemoryQueue QueueOf(string? key) => Queues[(int)((uint)string.GetHashCode(key ?? "", StringComparison.Ordinal) % (uint)Queues.Count)];
}
