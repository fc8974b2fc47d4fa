using Esb.Core.Audit;

namespace Esb.Audit.Journeys;

/// <summary>When things happened, since the journey began, with clocks made even.</summary>
internal sealed class EventTimes
{
    private readonly ClockSkew _skew;

    public EventTimes(IReadOnlyList<AuditFact> facts, ClockSkew skew)
    {
        _skew = skew;
        Origin = facts.Min(StartOf);
    }

    /// <summary>When the journey began.</summary>
    public DateTimeOffset Origin { get; }

    public (TimeSpan Started, TimeSpan Ended) Of(AuditFact fact) => (StartOf(fact) - Origin, EndOf(fact) - Origin);

    private DateTimeOffset EndOf(AuditFact fact) => fact.Time + _skew.Of(fact.Host);

    private DateTimeOffset StartOf(AuditFact fact) => StartOf(fact, EndOf(fact));

    /// <summary>When something began that ended then. A duration is what somebody has measured: never below zero, and never so long that the calendar ends.</summary>
    public static DateTimeOffset StartOf(AuditFact fact, DateTimeOffset end)
    {
        var duration = fact.Duration is { } measured && measured > TimeSpan.Zero ? measured : TimeSpan.Zero;
        return duration < end - DateTimeOffset.MinValue ? end - duration : end;
    }
}
