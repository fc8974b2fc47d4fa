using System.Runtime.CompilerServices;

namespace Esb.Endpoints.Http.Transport;

/// <summary>Leaves a <see cref="PollingThread"/>: what is awaited continues on a thread of the pool. Costs nothing on any other
/// thread.</summary>
internal readonly struct PoolThread : ICriticalNotifyCompletion
{
    public bool IsCompleted => !PollingThread.IsCurrent;

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
