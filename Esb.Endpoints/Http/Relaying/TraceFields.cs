using System.Diagnostics;
using Esb.Endpoints.Http.Outside;
using Microsoft.AspNetCore.Http;

namespace Esb.Endpoints.Http.Relaying;

/// <summary>Hands the trace on (https://www.w3.org/TR/trace-context/).</summary>
internal static class TraceFields
{
    private static readonly DistributedContextPropagator.PropagatorSetterCallback Setter = static (head, name, value) => ((TextBuffer)head!).WriteField(name, value);

    /// <summary>Ours; where nobody traces here, that of the caller as far as it is one.</summary>
    public static void Write(TextBuffer head, IHeaderDictionary caller)
    {
        if (Activity.Current is { } activity)
        {
            DistributedContextPropagator.Current.Inject(activity, head, Setter);
            return;
        }

        if (!ActivityContext.TryParse(caller.TraceParent, caller.TraceState, out _)) return;
        head.WriteField("traceparent", caller.TraceParent.ToString());
        if (caller.TraceState.Count > 0) head.WriteField("tracestate", caller.TraceState.ToString());
    }
}
