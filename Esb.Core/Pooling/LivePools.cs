using System.Runtime.CompilerServices;

namespace Esb.Core.Pooling;

/// <summary>A pool that reports its status. Thread-safe.</summary>
public interface ILivePool
{
    /// <summary>Owner of the pool, such as <c>endpoint erp</c>.</summary>
    string Owner { get; }

    /// <summary>Current status.</summary>
    PoolStatus Status { get; }

    /// <summary>Resets the peak of rented instances.</summary>
    void ResetPeak();
}

/// <summary>Pools of this process that have created an instance. Thread-safe; does not keep them alive.</summary>
public static class LivePools
{
    private static readonly ConditionalWeakTable<ILivePool, object> Pools = [];

    /// <summary>Every pool, by owner.</summary>
    public static IReadOnlyList<ILivePool> All => [.. Pools.Select(pair => pair.Key).OrderBy(pool => pool.Owner, StringComparer.Ordinal)];

    internal static void Add(ILivePool pool)
    {
        PoolTelemetry.Announce();
        Pools.AddOrUpdate(pool, pool.Owner);
    }

    internal static void Remove(ILivePool pool) => Pools.Remove(pool);
}
