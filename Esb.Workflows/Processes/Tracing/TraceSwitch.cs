using Esb.Core.Processes;
using Esb.Core.Processes.Tracing;

namespace Esb.Workflows.Processes.Tracing;

/// <summary>The traces that run at this moment, which every process asks. Thread-safe.</summary>
internal sealed class TraceSwitch
{
    private volatile RunningTrace[] _running = []; // empty unless an operator traces

    /// <summary>The traces that run.</summary>
    public IReadOnlyList<RunningTrace> Running
    {
        get => _running;
        set => _running = [.. value];
    }

    /// <summary>Returns what follows a message; null, at the cost of a read, if nothing traces its endpoint.</summary>
    public MessageFollower? Follow(MessageContext context)
    {
        foreach (var trace in _running)
        {
            if (trace.Order.Endpoint == context.Endpoint && trace.TryTake(context) is { } follower)
                return follower;
        }

        return null;
    }
}
