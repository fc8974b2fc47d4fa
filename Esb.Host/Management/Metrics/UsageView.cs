using Esb.Core.Endpoints;
using Esb.Core.Pooling;

namespace Esb.Host.Management.Metrics;

/// <summary>How much of something is in use. Shares from 0 to 1.</summary>
internal sealed record UsageView(string Name, int InUse, int Maximum, double Share, int Peak, double PeakShare)
{
    /// <summary>Instances that exist; null for calls.</summary>
    public int? Created { get; init; }

    /// <summary>Callers that wait now; null for calls.</summary>
    public int? Waiting { get; init; }

    /// <summary>How often a caller had to wait since the start; null for calls.</summary>
    public long? Waits { get; init; }

    public static UsageView OfCalls(EndpointStatus endpoint) => Of(endpoint.Name, endpoint.InFlight, endpoint.MaxInFlight!.Value, endpoint.PeakInFlight);

    public static UsageView OfPool(PoolUsage pool) => Of(pool.Owner, pool.Status.InUse, pool.Status.Maximum, pool.Status.Peak) with
    {
        Created = pool.Status.Created,
        Waiting = pool.Status.Waiting,
        Waits = pool.Status.Waits,
    };

    private static UsageView Of(string name, int inUse, int maximum, int peak) => new(name, inUse, maximum, ShareOf(inUse, maximum), peak, ShareOf(peak, maximum));

    private static double ShareOf(int count, int maximum) => Math.Round((double)count / maximum, 4);
}
