namespace Esb.Core.Audit;

/// <summary>Selects a journey and limits its size.</summary>
public sealed record AuditJourneyQuery
{
    /// <summary>The message whose conversation is read.</summary>
    public required Guid MessageId { get; init; }

    /// <summary>Maximum number of facts, oldest first; at least 1.</summary>
    public int Limit { get; init; } = 10_000;

    /// <summary>Maximum bytes of bodies, counted from the oldest fact; later facts have no body. 0 for no bodies.</summary>
    public long MaxBodyBytes { get; init; }
}
