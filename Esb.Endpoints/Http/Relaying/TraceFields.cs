using System.Diagnostics;
using Esb.Endpoints.Http.Outside;
using Microsoft.AspNetCore.Http;

namespace Esb.Endpoints.Http.Relaying;

/// <summary>Propagates the trace (https://www.w3.org/TR/trace-context/).</summary>
internal static class TraceFields
{
    private static readonly DistributedContextPropagator.PropagatorSetterCallback Setter = static (head, name, value) =>
        ((TextBuffer)head!).WriteField(name, value);

    /// <summary>Writes the current trace; if none is recorded here, the caller's trace if it is valid.</summary>
    public static void Write(TextBuffer head, IHeaderDictionary caller)
    {
        if (Activity.Current is { } activity)
        {
            DistributedContextPropagator.Current.Inject(activity, head, Setter);
            return;
        }

        if (!ActivityContext.TryParse(caller.TraceParent, caller.TraceState, out _))
            return;
        head.WriteField("traceparent", caller.TraceParent.ToString());
        if (caller.TraceState.Count > 0)
            head.WriteField("tracestate", caller.TraceState.ToString());
    }
}
