using System.Runtime.CompilerServices;

namespace Esb.Core.Pooling;

/// <summary>A pool, for whoever tells how it stands. Thread-safe.</summary>
public interface ILivePool
{
    /// <summary>What the pool belongs to, such as <c>endpoint erp</c>.</summary>
    string Owner { get; }

    /// <summary>How it stands right now.</summary>
    PoolStatus Status { get; }

    /// <summary>Begins to look for the most instances that are rented at once anew.</summary>
    void ResetPeak();
}

/// <summary>The pools of this process that have made an instance. Thread-safe; keeps none of them alive.</summary>
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
