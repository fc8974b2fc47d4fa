namespace Esb.Core.Pooling;

/// <summary>Combined status of the pools of one owner: an endpoint has one for deliveries and calls, and one for relays.</summary>
/// <param name="Owner">The owner, such as <c>endpoint erp</c>.</param>
/// <param name="Status">The sums. The peak is a lower bound, reached at least by the busiest pool.</param>
public sealed record PoolUsage(string Owner, PoolStatus Status)
{
    /// <summary>Owners in this process whose pools have created an instance, by name. Thread-safe.</summary>
    public static IReadOnlyList<PoolUsage> All =>
        [
            .. LivePools.All.GroupBy(
                pool => pool.Owner,
                (owner, pools) => new PoolUsage(owner, pools.Select(pool => pool.Status).Aggregate(Sum))
            ),
        ];

    private static PoolStatus Sum(PoolStatus one, PoolStatus other) =>
        new(
            one.Maximum + other.Maximum,
            one.Created + other.Created,
            one.InUse + other.InUse,
            one.Waiting + other.Waiting,
            one.Waits + other.Waits
        )
        {
            Peak = Math.Max(Math.Max(one.Peak, other.Peak), one.InUse + other.InUse),
        };
}
