using Esb.Core.Audit;

namespace Esb.Audit.Activities;

/// <summary>The audit store as used by the trail and the mover: passes appended facts to the activities before the call returns.</summary>
internal sealed class FollowedAuditWriter(IAuditStore store, ActivityFeed activities) : IAuditWriter
{
    public IAuditSpool? Spool => store.Spool;

    public ValueTask<string?> CheckAsync(CancellationToken cancellationToken) => store.CheckAsync(cancellationToken);

    public Task AppendAsync(IReadOnlyList<AuditFact> facts, CancellationToken cancellationToken) =>
        AppendAsync(facts, AuditDurability.Flushed, cancellationToken);

    public Task AppendAsync(IReadOnlyList<AuditFact> facts, AuditDurability durability, CancellationToken cancellationToken) =>
        activities.Models.Count == 0
            ? store.AppendAsync(facts, durability, cancellationToken)
            : AppendAndFollowAsync(facts, durability, cancellationToken);

    private async Task AppendAndFollowAsync(IReadOnlyList<AuditFact> facts, AuditDurability durability, CancellationToken cancellationToken)
    {
        await store.AppendAsync(facts, durability, cancellationToken);
        await activities.FollowAsync(facts, cancellationToken);
    }
}
