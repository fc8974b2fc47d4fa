using System.IO.Pipelines;

namespace Esb.Endpoints.Http.Transport;

/// <summary>Decides where the requests of one connection go on when bytes have arrived, or could be sent: on the
/// <see cref="PollingThread"/>, if the request says that it is brief, else on a thread of the pool. Thread-safe.</summary>
internal sealed class RequestScheduler : PipeScheduler
{
    private volatile bool _isBrief;

    /// <summary>True if the current request neither blocks nor computes for long; false until the first one says so. Stays as it is until
    /// another request of the connection says otherwise.</summary>
    public bool IsBrief
    {
        get => _isBrief;
        set => _isBrief = value;
    }

    public override void Schedule(Action<object?> action, object? state)
    {
        if (_isBrief)
            action(state);
        else
            System.Threading.ThreadPool.UnsafeQueueUserWorkItem(action, state, preferLocal: false);
    }
}
