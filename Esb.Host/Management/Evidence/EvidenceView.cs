using Esb.Core.Audit;

namespace Esb.Host.Management.Evidence;

/// <summary>The result of a verification in API responses.</summary>
/// <param name="From">The first day (UTC).</param>
/// <param name="To">The last day (UTC).</param>
/// <param name="IsStrict">True if nothing was believed that no anchor confirms.</param>
/// <param name="Facts">Number of facts read.</param>
/// <param name="Unchained">Facts recorded by a version without chains, which cannot be verified.</param>
/// <param name="Erased">Facts whose bodies were erased on request.</param>
/// <param name="Anchors">Number of anchors compared. Without any, facts removed at the end of a chain are not noticed.</param>
/// <param name="TotalBreaks">Number of breaks found.</param>
/// <param name="Breaks">The first breaks, at most 100.</param>
/// <param name="TotalChains">Number of chains followed.</param>
/// <param name="Chains">The last chains, at most 100.</param>
internal sealed record EvidenceView(
    DateOnly From,
    DateOnly To,
    bool IsStrict,
    long Facts,
    long Unchained,
    long Erased,
    long Anchors,
    long TotalBreaks,
    IReadOnlyList<AuditBreak> Breaks,
    int TotalChains,
    IReadOnlyList<FollowedChain> Chains
)
{
    private const int MaxChains = 100;

    public static EvidenceView Of(DateOnly from, DateOnly to, bool isStrict, AuditVerdict verdict, IReadOnlyList<FollowedChain> chains) =>
        new(
            from,
            to,
            isStrict,
            verdict.Facts,
            verdict.Unchained,
            verdict.Erased,
            verdict.Anchors,
            verdict.TotalBreaks,
            verdict.Breaks,
            chains.Count,
            [.. chains.TakeLast(MaxChains)]
        );
}
