using System.IO.Pipelines;
using Microsoft.AspNetCore.Http;

namespace Esb.Endpoints.Http.Transport;

/// <summary>Decides where the requests of one connection go on when bytes have arrived, or could be sent: on the
/// <see cref="PollingThread"/>, if the request says that it is brief, else on a thread of the pool. Thread-safe.</summary>
internal sealed class RequestScheduler : PipeScheduler
{
    // Of the current request; stays as it is until another request of the connection says otherwise.
    private volatile bool _isBrief;

    /// <summary>Handles a request where it may go on.</summary>
    /// <param name="context">The request.</param>
    /// <param name="handler">Handles it.</param>
    /// <param name="isBrief">True if it neither blocks a thread nor computes for long.</param>
    public static Task RunAsync(HttpContext context, RequestDelegate handler, bool isBrief)
    {
        if (context.Features.Get<RequestScheduler>() is { } scheduler && scheduler._isBrief != isBrief)
            scheduler._isBrief = isBrief;
        return isBrief || !PollingThread.IsCurrent ? handler(context) : RunOnPoolAsync(context, handler);
    }

    public override void Schedule(Action<object?> action, object? state)
    {
        if (_isBrief)
            action(state);
        else
            System.Threading.ThreadPool.UnsafeQueueUserWorkItem(action, state, preferLocal: false);
    }

    private static async Task RunOnPoolAsync(HttpContext context, RequestDelegate handler)
    {
        await PoolThread.SwitchAsync();
        await handler(context);
    }
}
