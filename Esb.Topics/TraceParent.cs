using System.Diagnostics;

namespace Esb.Topics;

/// <summary>Traces as text (https://www.w3.org/TR/trace-context/).</summary>
internal static class TraceParent
{
    /// <summary>Returns the text; null if there is no trace.</summary>
    public static string? Of(ActivityContext trace) =>
        trace == default
            ? null
            : $"00-{trace.TraceId}-{trace.SpanId}-{(trace.TraceFlags.HasFlag(ActivityTraceFlags.Recorded) ? "01" : "00")}";
}
