using System.Threading.Tasks.Sources;

namespace Esb.Endpoints.Http.Transport;

/// <summary>Tells one waiter that a socket may have become readable, or writable. A signal that comes before the waiter is kept; one that
/// comes twice counts once, so the waiter tries again whatever it was told. One waiter at a time; signals from any thread.</summary>
internal sealed class ReadySignal : IValueTaskSource, IThreadPoolWorkItem
{
    private const int None = 0;
    private const int Kept = 1;
    private const int Awaited = 2;

    private ManualResetValueTaskSourceCore<bool> _source; // mutable struct
    private int _state;

    public ValueTask WaitAsync()
    {
        if (Interlocked.CompareExchange(ref _state, None, Kept) == Kept)
            return ValueTask.CompletedTask;
        _source.Reset();
        if (Interlocked.CompareExchange(ref _state, Awaited, None) == None)
            return new ValueTask(this, _source.Version);
        Volatile.Write(ref _state, None);
        return ValueTask.CompletedTask;
    }

    /// <summary>Continues the waiter on this thread.</summary>
    public void Set()
    {
        if (Take())
            _source.SetResult(true);
    }

    /// <summary>Continues the waiter on a thread of the pool.</summary>
    public void SetFromOutside()
    {
        if (Take())
            ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
    }

    void IThreadPoolWorkItem.Execute() => _source.SetResult(true);

    void IValueTaskSource.GetResult(short token) => _source.GetResult(token);

    ValueTaskSourceStatus IValueTaskSource.GetStatus(short token) => _source.GetStatus(token);

    void IValueTaskSource.OnCompleted(Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags) =>
        _source.OnCompleted(continuation, state, token, flags);

    // True if there is a waiter; the caller must continue it.
    private bool Take()
    {
        if (Interlocked.Exchange(ref _state, Kept) != Awaited)
            return false;
        Volatile.Write(ref _state, None);
        return true;
    }
}
