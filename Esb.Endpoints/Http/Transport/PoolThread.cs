using System.Runtime.CompilerServices;

namespace Esb.Endpoints.Http.Transport;

/// <summary>Leaves a <see cref="PollingThread"/>: what is awaited continues on a thread of the pool. Costs nothing on any other
/// thread.</summary>
internal readonly struct PoolThread : ICriticalNotifyCompletion
{
    private readonly bool _stays;

    private PoolThread(bool stays) => _stays = stays;

    /// <summary>Continues on the current thread, whichever it is.</summary>
    public static PoolThread Stay => new(stays: true);

    public bool IsCompleted => _stays || !PollingThread.IsCurrent;

    public static PoolThread SwitchAsync() => default;

    public PoolThread GetAwaiter() => this;

    public void GetResult()
    {
        // nothing can fail
    }

    public void OnCompleted(Action continuation) => ThreadPool.QueueUserWorkItem(static next => next(), continuation, preferLocal: false);

    public void UnsafeOnCompleted(Action continuation) =>
        ThreadPool.UnsafeQueueUserWorkItem(static next => next(), continuation, preferLocal: false);
}
