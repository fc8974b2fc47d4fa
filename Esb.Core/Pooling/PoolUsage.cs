namespace Esb.Core.Pooling;

/// <summary>How the pools of one owner stand together: an endpoint has one for deliveries and calls, and one for relays.</summary>
/// <param name="Owner">What they belong to, such as <c>endpoint erp</c>.</param>
/// <param name="Status">The sums. The peak is one that was reached at least by the busiest of them.</param>
public sealed record PoolUsage(string Owner, PoolStatus Status)
{
    /// <summary>The owners of this process whose pools have made an instance, by name. Thread-safe.</summary>
    public static IReadOnlyList<PoolUsage> All => [.. LivePools.All.GroupBy(pool => pool.Owner, (owner, pools) => new PoolUsage(owner, pools.Select(pool => pool.Status).Aggregate(Sum)))];

    private static PoolStatus Sum(PoolStatus one, PoolStatus other) =>
        new(one.Maximum + other.Maximum, one.Created + other.Created, one.InUse + other.InUse, one.Waiting + other.Waiting, one.Waits + other.Waits)
        {
            Peak = Math.Max(Math.Max(one.Peak, other.Peak), one.InUse + other.InUse),
        };
}
