using Esb.Core.Endpoints;
using Esb.Core.Pooling;

namespace Esb.Host.Management.Metrics;

/// <summary>The usage of a limited resource. Shares range from 0 to 1.</summary>
internal sealed record UsageView(string Name, int InUse, int Maximum, double Share, int Peak, double PeakShare)
{
    /// <summary>The number of existing instances; null for calls.</summary>
    public int? Created { get; init; }

    /// <summary>The number of waiting callers; null for calls.</summary>
    public int? Waiting { get; init; }

    /// <summary>The number of waits since the start; null for calls.</summary>
    public long? Waits { get; init; }

    public static UsageView OfCalls(EndpointStatus endpoint) =>
        Of(endpoint.Name, endpoint.InFlight, endpoint.MaxInFlight!.Value, endpoint.PeakInFlight);

    public static UsageView OfPool(PoolUsage pool) =>
        Of(pool.Owner, pool.Status.InUse, pool.Status.Maximum, pool.Status.Peak) with
        {
            Created = pool.Status.Created,
            Waiting = pool.Status.Waiting,
            Waits = pool.Status.Waits,
        };

    private static UsageView Of(string name, int inUse, int maximum, int peak) =>
        new(name, inUse, maximum, ShareOf(inUse, maximum), peak, ShareOf(peak, maximum));

    private static double ShareOf(int count, int maximum) => Math.Round((double)count / maximum, 4);
}
