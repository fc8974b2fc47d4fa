namespace Esb.Core.Audit;

/// <summary>How much of a journey to read.</summary>
public sealed record AuditJourneyQuery
{
    /// <summary>The message whose conversation it is.</summary>
    public required Guid MessageId { get; init; }

    /// <summary>How many facts at most, the oldest, from 1.</summary>
    public int Limit { get; init; } = 10_000;

    /// <summary>The most bytes of bodies, counted from the oldest fact on: what comes after has none. 0 for no bodies at all.</summary>
    public long MaxBodyBytes { get; init; }
}
