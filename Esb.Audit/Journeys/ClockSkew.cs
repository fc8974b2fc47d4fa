using Esb.Core.Audit;

namespace Esb.Audit.Journeys;

/// <summary>Estimates how far the clocks of hosts lag behind one another, from events whose order is certain.</summary>
internal sealed class ClockSkew
{
    // A larger difference is not clock skew: it indicates a missing fact.
    private static readonly TimeSpan Largest = TimeSpan.FromHours(1);

    private readonly Dictionary<string, TimeSpan> _behind = [];

    /// <summary>The correction for times that a host recorded.</summary>
    public TimeSpan Of(string? host) => host is null ? TimeSpan.Zero : _behind.GetValueOrDefault(host);

    public static ClockSkew Measure(IReadOnlyList<AuditFact> facts)
    {
        var skew = new ClockSkew();
        var orders = facts.Where(fact => fact.Host is not null).GroupBy(fact => fact.MessageId).SelectMany(OrdersOf).ToList();
        var hosts = orders.Select(order => order.Later.Host).Distinct().Count();
        for (var round = 0; round <= hosts && orders.Count(skew.Correct) > 0; round++)
        {
            // Correcting one host may require correcting another.
        }

        return skew;
    }

    // A delivery follows its publication, and a dead letter follows the failed attempt.
    private static IEnumerable<(AuditFact Earlier, AuditFact Later)> OrdersOf(IEnumerable<AuditFact> message)
    {
        var facts = message.ToList();
        // The publication of a request is recorded when its reply arrives.
        var published = facts.Where(fact => fact is { Kind: AuditKind.Published, Duration: not null }).MinBy(StartOf);
        var taken = facts
            .Where(fact =>
                fact
                    is {
                        Kind: AuditKind.Delivered or AuditKind.Failed or AuditKind.Parked or AuditKind.DeadLettered,
                        Process: null,
                        Attempt: > 0
                    }
            )
            .ToList();
        if (published is not null)
        {
            foreach (var fact in taken.Where(fact => fact.Host != published.Host && fact.Endpoint != published.Endpoint))
                yield return (published, fact);
        }

        var failures = taken
            .Where(fact => fact.Kind == AuditKind.Failed)
            .ToLookup(fact => (fact.Endpoint, fact.Attempt, fact.Code, fact.Reason));
        foreach (var letter in taken.Where(fact => fact.Kind == AuditKind.DeadLettered))
        {
            if (
                failures[(letter.Endpoint, letter.Attempt, letter.Code, letter.Reason)].MinBy(fact => fact.Id) is { } failure
                && failure.Host != letter.Host
            )
                yield return (failure, letter);
        }
    }

    private bool Correct((AuditFact Earlier, AuditFact Later) order)
    {
        var earlier = (order.Earlier.Kind == AuditKind.Published ? StartOf(order.Earlier) : order.Earlier.Time) + Of(order.Earlier.Host);
        var missing = earlier - (StartOf(order.Later) + Of(order.Later.Host));
        if (missing <= TimeSpan.Zero || missing > Largest || Of(order.Later.Host) + missing > Largest)
            return false;
        _behind[order.Later.Host!] = Of(order.Later.Host) + missing;
        return true;
    }

    private static DateTimeOffset StartOf(AuditFact fact) => EventTimes.StartOf(fact, fact.Time);
}
