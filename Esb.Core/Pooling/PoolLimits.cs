namespace Esb.Core.Pooling;

/// <summary>Limits of a pool: its maximum instances, and the time that a caller waits for one.</summary>
/// <param name="MaximumInstances">At least 1.</param>
/// <param name="PoolTimeout">Time until the caller gets a <see cref="Errors.PoolTimeoutException"/>, unless it passes its own
/// time-out.</param>
public sealed record PoolLimits(int MaximumInstances, TimeSpan PoolTimeout);

/// <summary>Status of a pool at one moment.</summary>
/// <param name="Maximum">Maximum instances.</param>
/// <param name="Created">Existing instances.</param>
/// <param name="InUse">Rented instances.</param>
/// <param name="Waiting">Callers waiting for an instance.</param>
/// <param name="Waits">Number of times a caller had to wait since the start.</param>
public sealed record PoolStatus(int Maximum, int Created, int InUse, int Waiting, long Waits)
{
    /// <summary>Peak of rented instances, since the start or since peaks were reset.</summary>
    public int Peak { get; init; }
}

/// <summary>A rented instance; disposing returns it, once.</summary>
public struct InstanceLease<T> : IDisposable
    where T : class
{
    private InstancePool<T>? _pool;

    internal InstanceLease(InstancePool<T> pool, T instance)
    {
        _pool = pool;
        Instance = instance;
    }

    /// <summary>The instance, exclusive to the renter until it is returned.</summary>
    public T Instance { get; }

    /// <summary>Keeps the instance instead of returning it: the pool may create another in its place. The caller also disposes
    /// it.</summary>
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
