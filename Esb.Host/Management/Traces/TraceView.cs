using Esb.Core.Processes.Tracing;

namespace Esb.Host.Management.Traces;

/// <summary>A trace on all hosts.</summary>
/// <param name="Id">Identifies it.</param>
/// <param name="Endpoint">The endpoint whose processes are followed.</param>
/// <param name="Where">Conditions that its messages meet.</param>
/// <param name="Count">Messages on each host after which it ends there.</param>
/// <param name="State">Its state: running as long as one host records.</param>
/// <param name="StartedAt">When it began.</param>
/// <param name="EndsAt">When it ends at the latest.</param>
/// <param name="By">The operator.</param>
/// <param name="Reason">Why.</param>
/// <param name="Hosts">The hosts that record, or recorded.</param>
/// <param name="Messages">What was recorded, oldest first.</param>
internal sealed record TraceView(
    Guid Id,
    string Endpoint,
    IReadOnlyList<string> Where,
    int Count,
    TraceState State,
    DateTimeOffset StartedAt,
    DateTimeOffset EndsAt,
    string By,
    string? Reason,
    IReadOnlyList<string> Hosts,
    IReadOnlyList<TracedPass> Messages
)
{
    /// <summary>One trace from what each host knows of it.</summary>
    public static TraceView Of(IReadOnlyCollection<HostTrace> parts)
    {
        var first = parts.MinBy(part => part.Trace.StartedAt)!.Trace;
        var running = parts.Select(part => part.Trace).FirstOrDefault(trace => trace.State == TraceState.Running);
        return new TraceView(
            first.Order.Id,
            first.Order.Endpoint,
            [.. first.Order.Where.Select(condition => condition.ToString())],
            first.Order.Count,
            (running ?? first).State,
            first.StartedAt,
            parts.Max(part => part.Trace.EndsAt),
            first.Order.By,
            first.Order.Reason,
            [.. parts.Select(part => part.Host).Order(StringComparer.Ordinal)],
            [.. parts.SelectMany(part => part.Trace.Messages).OrderBy(pass => pass.StartedAt)]
        );
    }
}

/// <summary>A trace as a host knows it.</summary>
internal sealed record HostTrace(string Host, ProcessTrace Trace);

/// <summary>Request for a trace.</summary>
internal sealed record TraceBody
{
    public string? Endpoint { get; init; }

    /// <summary>Conditions, <c>name=value</c>, that a message meets, all of them.</summary>
    public IReadOnlyList<string> Where { get; init; } = [];

    /// <summary>Messages on each host after which it ends.</summary>
    public int Count { get; init; } = 20;

    /// <summary>Time after which it ends, such as <c>5m</c>.</summary>
    public string For { get; init; } = "5m";

    public string? Reason { get; init; }
}
