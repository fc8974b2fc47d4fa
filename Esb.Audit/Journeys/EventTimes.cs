using Esb.Core.Audit;

namespace Esb.Audit.Journeys;

/// <summary>The times of events since the start of the journey, corrected for clock skew.</summary>
internal sealed class EventTimes
{
    private readonly ClockSkew _skew;

    public EventTimes(IReadOnlyList<AuditFact> facts, ClockSkew skew)
    {
        _skew = skew;
        Origin = facts.Min(StartOf);
    }

    /// <summary>The start of the journey.</summary>
    public DateTimeOffset Origin { get; }

    public (TimeSpan Started, TimeSpan Ended) Of(AuditFact fact) => (StartOf(fact) - Origin, EndOf(fact) - Origin);

    private DateTimeOffset EndOf(AuditFact fact) => fact.Time + _skew.Of(fact.Host);

    private DateTimeOffset StartOf(AuditFact fact) => StartOf(fact, EndOf(fact));

    /// <summary>The start of an event, from its end and its measured duration. Negative durations, and durations beyond the calendar's
    /// range, are ignored.</summary>
    public static DateTimeOffset StartOf(AuditFact fact, DateTimeOffset end)
    {
        var duration = fact.Duration is { } measured && measured > TimeSpan.Zero ? measured : TimeSpan.Zero;
        return duration < end - DateTimeOffset.MinValue ? end - duration : end;
    }
}
