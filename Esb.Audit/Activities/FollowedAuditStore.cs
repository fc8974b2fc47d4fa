using Esb.Core.Audit;

namespace Esb.Audit.Activities;

/// <summary>The audit store, as the trail and the mover write to it: the activities follow what it has kept, before whoever wrote lets go of it.</summary>
internal sealed class FollowedAuditStore(IAuditStore store, ActivityFeed activities) : IAuditStore
{
    public IAuditSpool? Spool => store.Spool;

    public ValueTask<string?> CheckAsync(CancellationToken cancellationToken) => store.CheckAsync(cancellationToken);

    public async Task AppendAsync(IReadOnlyList<AuditFact> facts, CancellationToken cancellationToken)
    {
        await store.AppendAsync(facts, cancellationToken);
        await activities.FollowAsync(facts, cancellationToken);
    }

    public IAsyncEnumerable<AuditFact> FindAsync(AuditQuery query, CancellationToken cancellationToken) => store.FindAsync(query, cancellationToken);

    public Task<IReadOnlyList<AuditFact>> GetJourneyAsync(Guid messageId, CancellationToken cancellationToken) => store.GetJourneyAsync(messageId, cancellationToken);

    public Task<IReadOnlyList<AuditFact>> GetJourneyAsync(AuditJourneyQuery query, CancellationToken cancellationToken) => store.GetJourneyAsync(query, cancellationToken);
}
