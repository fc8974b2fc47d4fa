using System.Globalization;
using Esb.Core.Pooling;

namespace Esb.Delivery.Outbound;

/// <summary>Advises on the size of a pool, from the most instances in use and from the demand by Little's law.</summary>
internal static class PoolSizing
{
    // A third more than what was ever needed.
    private const double Reserve = 4.0 / 3.0;

    /// <summary>The advice; null while too little is known, or where the size fits.</summary>
    public static string? Of(PoolStatus pool, SendDemand demand)
    {
        if (demand.Count < SendDemand.Least)
            return null;
        var busiest = demand.Busiest;
        var enough = Math.Max(1, WithReserve(Math.Max(pool.Peak, busiest)));
        if (pool is { Waiting: > 0 } && pool.Peak >= pool.Maximum)
            return Say(
                $"all {pool.Maximum} instances are in use, {pool.Waiting} wait; {WithReserve(pool.Maximum + pool.Waiting)} would do"
            );
        return enough < pool.Maximum
            ? Say($"{pool.Peak} of {pool.Maximum} instances were ever in use, {busiest:0.#} in the busiest minute; {enough} would do")
            : null;
    }

    private static int WithReserve(double instances) => (int)Math.Ceiling(instances * Reserve);

    private static string Say(FormattableString text) => text.ToString(CultureInfo.InvariantCulture);
}
