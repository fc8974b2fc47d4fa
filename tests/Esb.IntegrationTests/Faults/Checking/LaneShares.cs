namespace Esb.IntegrationTests.Faults.Checking;

/// <summary>A message that a host delivered, of a lane.</summary>
/// <param name="Lane">The lane of its key.</param>
/// <param name="Host">Who delivered it.</param>
/// <param name="At">When.</param>
internal sealed record LaneDelivery(int Lane, string Host, DateTimeOffset At);

/// <summary>Finds from when on hosts share the lanes of an endpoint evenly, by what they delivered.</summary>
internal static class LaneShares
{
    /// <param name="deliveries">In the order in which they happened; those before give the owners of lanes at the beginning.</param>
    /// <param name="lanes">How many lanes there are.</param>
    /// <param name="hosts">The hosts that share them.</param>
    /// <param name="from">The moment at which a host came or went.</param>
    /// <returns>The delivery since then that made the shares even, to stay so until the end; null if they are not. The moment itself if
    /// they were even all the time.</returns>
    public static DateTimeOffset? EvenFrom(
        IEnumerable<LaneDelivery> deliveries,
        int lanes,
        IReadOnlyCollection<string> hosts,
        DateTimeOffset from
    )
    {
        var owners = new Dictionary<int, string>();
        DateTimeOffset? since = null;
        var hasBegun = false;
        foreach (var delivery in deliveries)
        {
            if (delivery.At >= from && !hasBegun)
                (hasBegun, since) = (true, IsEven(owners, lanes, hosts) ? from : null);
            owners[delivery.Lane] = delivery.Host;
            if (!hasBegun)
                continue;
            if (!IsEven(owners, lanes, hosts))
                since = null;
            else
                since ??= delivery.At;
        }

        return since;
    }

    private static bool IsEven(Dictionary<int, string> owners, int lanes, IReadOnlyCollection<string> hosts)
    {
        if (owners.Count < lanes || owners.Values.Any(owner => !hosts.Contains(owner)))
            return false;
        var (fewest, most) = (lanes / hosts.Count, (lanes + hosts.Count - 1) / hosts.Count);
        return hosts.All(host => owners.Values.Count(owner => owner == host) is var count && count >= fewest && count <= most);
    }
}
