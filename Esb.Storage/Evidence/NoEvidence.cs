using Esb.Core.Audit;
using Esb.Core.Errors;

namespace Esb.Storage.Evidence;

/// <summary>A store that chains no facts.</summary>
internal sealed class NoEvidence : IAuditEvidence
{
    public Task<AuditVerdict> VerifyAsync(DateOnly? from, DateOnly? to, Action<FollowedChain> tell, CancellationToken cancellationToken) =>
        throw Refused();

    public Task<AuditVerdict> VerifyStrictlyAsync(
        DateOnly? from,
        DateOnly? to,
        DateOnly today,
        Action<FollowedChain> tell,
        CancellationToken cancellationToken
    ) => throw Refused();

    private static EsbException Refused() =>
        new(
            "ESB-AUD-UNCHAINED",
            "The file store chains no facts: its segments have checksums against damage, but no evidence against edits. The PostgreSQL "
                + "store does.",
            FaultKind.Invalid
        )
        {
            Status = 409,
        };
}
