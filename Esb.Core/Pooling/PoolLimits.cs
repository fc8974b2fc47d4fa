namespace Esb.Core.Pooling;

/// <summary>How many instances a pool may hold, and how long a caller waits for one.</summary>
/// <param name="MaximumInstances">At least 1.</param>
/// <param name="PoolTimeout">Then the caller gets a <see cref="Errors.PoolTimeoutException"/>, unless it brings a time-out of its own.</param>
public sealed record PoolLimits(int MaximumInstances, TimeSpan PoolTimeout);

/// <summary>How a pool stands at one moment.</summary>
/// <param name="Maximum">The most instances it may hold.</param>
/// <param name="Created">The instances that exist.</param>
/// <param name="InUse">Those that are rented.</param>
/// <param name="Waiting">Callers that wait for one.</param>
/// <param name="Waits">How often a caller has had to wait since the start.</param>
public sealed record PoolStatus(int Maximum, int Created, int InUse, int Waiting, long Waits)
{
    /// <summary>The most instances that were rented at once, since the start or since peaks were reset.</summary>
    public int Peak { get; init; }
}

/// <summary>A rented instance; disposing gives it back, once.</summary>
public struct InstanceLease<T> : IDisposable
    where T : class
{
    private InstancePool<T>? _pool;

    internal InstanceLease(InstancePool<T> pool, T instance)
    {
        _pool = pool;
        Instance = instance;
    }

    /// <summary>The instance, the renter's alone until it is given back.</summary>
    public T Instance { get; }

    /// <summary>Keeps the instance for good instead of giving it back: the pool may make another one in its place. Who abandons it also disposes it.</summary>
    public void Abandon()
    {
        _pool?.Abandon();
        _pool = null;
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _pool?.Return(Instance);
        _pool = null;
    }
}
