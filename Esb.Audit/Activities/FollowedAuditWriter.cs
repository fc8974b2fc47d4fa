using Esb.Core.Audit;

namespace Esb.Audit.Activities;

/// <summary>The audit store, as the trail and the mover write to it: the activities follow what it has kept, before whoever wrote lets go of it.</summary>
internal sealed class FollowedAuditWriter(IAuditStore store, ActivityFeed activities) : IAuditWriter
{
    public IAuditSpool? Spool => store.Spool;

    public ValueTask<string?> CheckAsync(CancellationToken cancellationToken) => store.CheckAsync(cancellationToken);

    public async Task AppendAsync(IReadOnlyList<AuditFact> facts, CancellationToken cancellationToken)
    {
        await store.AppendAsync(facts, cancellationToken);
        await activities.FollowAsync(facts, cancellationToken);
    }
}
