using Esb.Core.Audit;

namespace Esb.Delivery.Replay.Audited;

/// <summary>Remembers recent replays until the audit store is certain to return them. One caller at a time.</summary>
internal sealed class RecentReplays(TimeProvider time)
{
    private static readonly TimeSpan Memory = TimeSpan.FromMinutes(5);

    private readonly Queue<AuditFact> _facts = new();

    public void Add(AuditFact fact)
    {
        while (_facts.TryPeek(out var oldest) && oldest.Time < time.GetUtcNow() - Memory)
            _facts.Dequeue();
        _facts.Enqueue(fact);
    }

    public IEnumerable<AuditFact> Of(Guid messageId) => _facts.Where(fact => fact.MessageId == messageId).Reverse();
}
