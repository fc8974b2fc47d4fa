using System.Diagnostics;
using Esb.Core.Diagnostics;
using Esb.Core.Errors;
using Microsoft.Extensions.Logging;

namespace Esb.Core.Pooling;

/// <summary>A pool of instances that one caller uses at a time each: made only when none is free, up to a maximum; then callers wait in turn.</summary>
/// <remarks>Thread-safe. The last one returned is rented first, so that idle ones stay idle. Disposing the pool disposes the idle instances now and the rented ones when they return.</remarks>
public sealed partial class InstancePool<T>(string owner, Func<T> create, PoolLimits limits, TimeProvider time, ILogger logger) : IAsyncDisposable
    where T : class
{
    private static readonly TimeSpan WarningInterval = TimeSpan.FromSeconds(10);

    private readonly Lock _gate = new();
    private readonly Stack<T> _idle = new();
    private readonly Queue<TaskCompletionSource<T>> _waiters = new();
    private int _maximum = limits.MaximumInstances;
    private int _created;
    private long _waits;
    private long _lastWarning = -1;
    private bool _disposed;

    /// <summary>How the pool stands right now.</summary>
    public PoolStatus Status
    {
        get
        {
            lock (_gate) return new PoolStatus(_maximum, _created, _created - _idle.Count, _waiters.Count(waiter => !waiter.Task.IsCompleted), _waits);
        }
    }

    /// <summary>Rents an instance; dispose the lease to give it back.</summary>
    /// <exception cref="PoolTimeoutException">None became free within the pool's time-out.</exception>
    public async ValueTask<InstanceLease<T>> RentAsync(CancellationToken cancellationToken)
    {
        TaskCompletionSource<T> waiter;
        lock (_gate)
        {
            ObjectDisposedException.ThrowIf(_disposed, this);
            if (_idle.TryPop(out var idle)) return new InstanceLease<T>(this, idle);
            if (_created < _maximum)
            {
                _created++;
                return new InstanceLease<T>(this, CreateCounted());
            }

            waiter = new TaskCompletionSource<T>(TaskCreationOptions.RunContinuationsAsynchronously);
            _waiters.Enqueue(waiter);
            _waits++;
        }

        Warn();
        return new InstanceLease<T>(this, await WaitAsync(waiter, cancellationToken));
    }

    /// <summary>Changes the maximum while the pool is in use; above a lowered maximum, instances go as they are returned.</summary>
    public void Resize(int maximumInstances)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(maximumInstances, 1);
        var leaving = new List<T>();
        lock (_gate)
        {
            _maximum = maximumInstances;
            while (_created > _maximum && _idle.TryPop(out var idle))
            {
                _created--;
                leaving.Add(idle);
            }

            while (_created < _maximum && _waiters.Count > 0)
            {
                _created++;
                HandOn(CreateCounted());
            }
        }

        foreach (var instance in leaving) Discard(instance);
    }

    /// <inheritdoc/>
    public ValueTask DisposeAsync()
    {
        List<T> idle;
        lock (_gate)
        {
            _disposed = true;
            idle = [.. _idle];
            _created -= idle.Count;
            _idle.Clear();
        }

        foreach (var instance in idle) Discard(instance);
        return ValueTask.CompletedTask;
    }

    internal void Return(T instance)
    {
        lock (_gate)
        {
            if (!_disposed && _created <= _maximum)
            {
                HandOn(instance);
                return;
            }

            _created--;
        }

        Discard(instance);
    }

    private async Task<T> WaitAsync(TaskCompletionSource<T> waiter, CancellationToken cancellationToken)
    {
        var started = time.GetTimestamp();
        using var timeout = new CancellationTokenSource(limits.PoolTimeout, time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(timeout.Token, cancellationToken);
        await using var giveUp = either.Token.Register(static state => ((TaskCompletionSource<T>)state!).TrySetCanceled(), waiter);
        try
        {
            return await waiter.Task;
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            throw new PoolTimeoutException(owner, limits.MaximumInstances, limits.PoolTimeout);
        }
        finally
        {
            PoolTelemetry.WaitDuration.Record(time.GetElapsedTime(started).TotalSeconds, new TagList { { EsbTelemetry.Tags.Pool, owner } });
        }
    }

    private T CreateCounted()
    {
        try
        {
            return create();
        }
        catch
        {
            _created--; // whoever asked gets the exception; the place is free again
            throw;
        }
    }

    // To the next caller that has not given up meanwhile; to the idle ones where there is none.
    private void HandOn(T instance)
    {
        while (_waiters.TryDequeue(out var waiter))
        {
            if (waiter.TrySetResult(instance)) return;
        }

        _idle.Push(instance);
    }

    private void Warn()
    {
        var now = time.GetTimestamp();
        var last = Interlocked.Read(ref _lastWarning);
        if (last >= 0 && time.GetElapsedTime(last, now) < WarningInterval) return;
        if (Interlocked.CompareExchange(ref _lastWarning, now, last) == last) LogWaiting(owner, _maximum);
    }

    private static void Discard(T instance)
    {
        if (instance is IDisposable disposable) disposable.Dispose();
    }

    [LoggerMessage(EventId = 1001, Level = LogLevel.Warning, Message = "waiting for a free instance of {Owner}: all {Count} are in use")]
    private partial void LogWaiting(string owner, int count);
}
