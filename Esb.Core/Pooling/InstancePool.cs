using System.Diagnostics;
using System.Runtime.CompilerServices;
using System.Threading.Tasks.Sources;
using Esb.Core.Diagnostics;
using Esb.Core.Errors;
using Microsoft.Extensions.Logging;

namespace Esb.Core.Pooling;

/// <summary>A pool of instances, each used by one caller at a time: created only if none is free, up to a maximum; then callers wait in
/// turn.</summary>
/// <remarks>Thread-safe. The last instance returned is rented first, so that idle instances stay idle. Disposing the pool disposes idle
/// instances now and rented ones on return; waiting callers fail at once.</remarks>
public sealed partial class InstancePool<T>(string owner, Func<T> create, PoolLimits limits, TimeProvider time, ILogger logger)
    : ILivePool,
        IAsyncDisposable
    where T : class
{
    private readonly LogPace _pace = new(time);
    private readonly Lock _gate = new();
    private readonly Stack<T> _idle = new();
    private readonly LinkedList<Waiter> _waiters = new();
    private int _maximum = limits.MaximumInstances;
    private int _created;
    private int _peak;
    private long _waits;
    private bool _isListed;
    private bool _disposed;

    /// <inheritdoc/>
    public string Owner => owner;

    /// <summary>Current status of the pool.</summary>
    public PoolStatus Status
    {
        get
        {
            lock (_gate)
                return new PoolStatus(_maximum, _created, _created - _idle.Count, _waiters.Count, _waits) { Peak = _peak };
        }
    }

    /// <inheritdoc/>
    public void ResetPeak()
    {
        lock (_gate)
            _peak = _created - _idle.Count;
    }

    /// <summary>Rents an instance; dispose the lease to return it.</summary>
    /// <exception cref="PoolTimeoutException">No instance became free within the pool's time-out.</exception>
    /// <exception cref="ObjectDisposedException">The pool is disposed, or was disposed while the caller waited.</exception>
    public ValueTask<InstanceLease<T>> RentAsync(CancellationToken cancellationToken) => RentAsync(limits.PoolTimeout, cancellationToken);

    /// <summary>Rents an instance with the caller's own time-out; dispose the lease to return it.</summary>
    /// <param name="timeout">Time that the caller waits; zero to take only an instance that is free now.</param>
    /// <param name="cancellationToken">Cancels waiting.</param>
    /// <exception cref="PoolTimeoutException">No instance became free within that time.</exception>
    /// <exception cref="ObjectDisposedException">The pool is disposed, or was disposed while the caller waited.</exception>
    public ValueTask<InstanceLease<T>> RentAsync(TimeSpan timeout, CancellationToken cancellationToken)
    {
        Waiter waiter;
        lock (_gate)
        {
            ObjectDisposedException.ThrowIf(_disposed, this);
            if (_idle.TryPop(out var idle))
            {
                _peak = Math.Max(_peak, _created - _idle.Count);
                return new(new InstanceLease<T>(this, idle));
            }

            if (_created < _maximum)
                return new(new InstanceLease<T>(this, CreateCounted()));
            waiter = new Waiter(this, timeout);
            _waiters.AddLast(waiter.Place);
            _waits++;
        }

        if (_pace.Next() is not null)
            LogWaiting(owner, Status.Maximum);
        return WaitAsync(waiter, timeout, cancellationToken);
    }

    /// <summary>Changes the maximum while the pool is in use; above a lowered maximum, instances are disposed as they are
    /// returned.</summary>
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

            while (_created < _maximum && _waiters.First is { } waiter)
                CreateFor(waiter);
        }

        foreach (var instance in leaving)
            Discard(instance);
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
            foreach (var waiter in _waiters)
                waiter.Fail(new ObjectDisposedException(owner));
            _waiters.Clear();
        }

        LivePools.Remove(this);
        foreach (var instance in idle)
            Discard(instance);
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

    internal void Abandon()
    {
        lock (_gate)
        {
            _created--;
            if (!_disposed && _created < _maximum && _waiters.First is { } waiter)
                CreateFor(waiter);
        }
    }

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    private async ValueTask<InstanceLease<T>> WaitAsync(Waiter waiter, TimeSpan timeout, CancellationToken cancellationToken)
    {
        var started = time.GetTimestamp();
        try
        {
            using var timer = time.CreateTimer(static state => ((Waiter)state!).TimeOut(), waiter, timeout, Timeout.InfiniteTimeSpan);
            using var cancelled = cancellationToken.UnsafeRegister(static (state, token) => ((Waiter)state!).Cancel(token), waiter);
            if (timeout == TimeSpan.Zero)
                waiter.TimeOut(); // a timer would fire a moment later
            return new InstanceLease<T>(this, await waiter.InstanceAsync());
        }
        finally
        {
            PoolTelemetry.WaitDuration.Record(time.GetElapsedTime(started).TotalSeconds, new TagList { { EsbTelemetry.Tags.Pool, owner } });
        }
    }

    // The code that removes a waiter from the list, under the lock, also completes it: a waiter that has left gets no instance.
    private bool TryLeave(Waiter waiter)
    {
        lock (_gate)
        {
            if (waiter.Place.List is null)
                return false;
            _waiters.Remove(waiter.Place);
            return true;
        }
    }

    private T CreateCounted()
    {
        var instance = create(); // the caller gets any exception
        if (!_isListed)
            LivePools.Add(this);
        (_isListed, _created) = (true, _created + 1);
        _peak = Math.Max(_peak, _created - _idle.Count);
        return instance;
    }

    private void CreateFor(LinkedListNode<Waiter> waiter)
    {
        _waiters.Remove(waiter);
        try
        {
            waiter.Value.Receive(CreateCounted());
        }
        catch (Exception ex)
        {
            waiter.Value.Fail(ex); // to the waiting caller, as if the instance had been created for it at once
        }
    }

    // To the longest-waiting caller; to the idle instances if no caller waits.
    private void HandOn(T instance)
    {
        if (_waiters.First is { } waiter)
        {
            _waiters.RemoveFirst();
            waiter.Value.Receive(instance);
            return;
        }

        _idle.Push(instance);
    }

    private static void Discard(T instance)
    {
        if (instance is IDisposable disposable)
            disposable.Dispose();
    }

    [LoggerMessage(EventId = 1001, Level = LogLevel.Warning, Message = "waiting for a free instance of {Owner}: all {Count} are in use")]
    private partial void LogWaiting(string owner, int count);

    /// <summary>A caller that waits. It is completed once and continues on another thread, because the lock may be held.</summary>
    private sealed class Waiter : IValueTaskSource<T>
    {
        private readonly InstancePool<T> _pool;
        private readonly TimeSpan _timeout;
        private ManualResetValueTaskSourceCore<T> _instance = new() { RunContinuationsAsynchronously = true };

        public Waiter(InstancePool<T> pool, TimeSpan timeout)
        {
            (_pool, _timeout) = (pool, timeout);
            Place = new LinkedListNode<Waiter>(this);
        }

        public LinkedListNode<Waiter> Place { get; }

        public ValueTask<T> InstanceAsync() => new(this, _instance.Version);

        public void Receive(T instance) => _instance.SetResult(instance);

        public void Fail(Exception failure) => _instance.SetException(failure);

        public void TimeOut()
        {
            if (_pool.TryLeave(this))
                Fail(new PoolTimeoutException(_pool.Owner, _pool.Status.Maximum, _timeout));
        }

        public void Cancel(CancellationToken cancellationToken)
        {
            if (_pool.TryLeave(this))
                Fail(new OperationCanceledException(cancellationToken));
        }

        T IValueTaskSource<T>.GetResult(short token) => _instance.GetResult(token);

        ValueTaskSourceStatus IValueTaskSource<T>.GetStatus(short token) => _instance.GetStatus(token);

        void IValueTaskSource<T>.OnCompleted(
            Action<object?> continuation,
            object? state,
            short token,
            ValueTaskSourceOnCompletedFlags flags
        ) => _instance.OnCompleted(continuation, state, token, flags);
    }
}
