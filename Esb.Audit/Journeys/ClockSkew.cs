using Esb.Core.Audit;

namespace Esb.Audit.Journeys;

/// <summary>How far clocks of hosts are behind one another, as far as what cannot have happened in another order shows.</summary>
internal sealed class ClockSkew
{
    // More than that is no clock: it is a fact that is missing.
    private static readonly TimeSpan Largest = TimeSpan.FromHours(1);

    private readonly Dictionary<string, TimeSpan> _behind = [];

    /// <summary>By how much to move what a host recorded.</summary>
    public TimeSpan Of(string? host) => host is null ? TimeSpan.Zero : _behind.GetValueOrDefault(host);

    public static ClockSkew Measure(IReadOnlyList<AuditFact> facts)
    {
        var skew = new ClockSkew();
        var orders = facts.Where(fact => fact.Host is not null).GroupBy(fact => fact.MessageId).SelectMany(OrdersOf).ToList();
        var hosts = orders.Select(order => order.Later.Host).Distinct().Count();
        for (var round = 0; round <= hosts && orders.Count(skew.Correct) > 0; round++)
        {
            // One host's correction may ask for another's.
        }

        return skew;
    }

    // Nothing is delivered before it was published, and nothing is given up before the attempt that failed.
    private static IEnumerable<(AuditFact Earlier, AuditFact Later)> OrdersOf(IEnumerable<AuditFact> message)
    {
        var facts = message.ToList();
        var published = facts.Where(fact => fact is { Kind: AuditKind.Published, Duration: not null }).MinBy(StartOf); // that of a request is recorded when its reply is there
        var taken = facts.Where(fact => fact is { Kind: AuditKind.Delivered or AuditKind.Failed or AuditKind.Parked or AuditKind.DeadLettered, Process: null, Attempt: > 0 }).ToList();
        if (published is not null)
        {
            foreach (var fact in taken.Where(fact => fact.Host != published.Host && fact.Endpoint != published.Endpoint)) yield return (published, fact);
        }

        var failures = taken.Where(fact => fact.Kind == AuditKind.Failed).ToLookup(fact => (fact.Endpoint, fact.Attempt, fact.Code, fact.Reason));
        foreach (var letter in taken.Where(fact => fact.Kind == AuditKind.DeadLettered))
        {
            if (failures[(letter.Endpoint, letter.Attempt, letter.Code, letter.Reason)].MinBy(fact => fact.Id) is { } failure && failure.Host != letter.Host) yield return (failure, letter);
        }
    }

    private bool Correct((AuditFact Earlier, AuditFact Later) order)
    {
        var earlier = (order.Earlier.Kind == AuditKind.Published ? StartOf(order.Earlier) : order.Earlier.Time) + Of(order.Earlier.Host);
        var missing = earlier - (StartOf(order.Later) + Of(order.Later.Host));
        if (missing <= TimeSpan.Zero || missing > Largest || Of(order.Later.Host) + missing > Largest) return false;
        _behind[order.Later.Host!] = Of(order.Later.Host) + missing;
        return true;
    }

    private static DateTimeOffset StartOf(AuditFact fact) => EventTimes.StartOf(fact, fact.Time);
}
