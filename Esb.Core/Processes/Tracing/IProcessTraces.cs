namespace Esb.Core.Processes.Tracing;

/// <summary>Traces of processes on this host: each records the steps of the messages of one endpoint, with their masked bodies, for a
/// while. Thread-safe; memory is bounded, and nothing outlives the process.</summary>
/// <remarks>Pattern: Message History and Wire Tap of Enterprise Integration Patterns, on demand.</remarks>
public interface IProcessTraces
{
    /// <summary>The traces that run, and the last that ended, newest first.</summary>
    IReadOnlyList<ProcessTrace> All { get; }

    /// <summary>Checks that a trace could begin now.</summary>
    /// <exception cref="Errors.EsbException"><c>ESB-API-TRACED</c>: the endpoint has one already, or too many run.</exception>
    void Check(TraceOrder order);

    /// <summary>Begins a trace, which ends by itself.</summary>
    /// <exception cref="Errors.EsbException"><c>ESB-API-TRACED</c>: the endpoint has one already, or too many run.</exception>
    ProcessTrace Start(TraceOrder order);

    /// <summary>Ends a trace; what it recorded stays. Does nothing if it has ended.</summary>
    /// <returns>The trace; null if no trace has this id.</returns>
    ProcessTrace? Stop(Guid id);

    /// <summary>Returns a message that a trace recorded; null if there is none.</summary>
    /// <param name="trace">The trace.</param>
    /// <param name="pass">The pass of the message (<see cref="TracedPass.Id"/>).</param>
    TracedMessage? Find(Guid trace, Guid pass);
}

/// <summary>What a trace records, and for how long.</summary>
/// <param name="Id">Identifies it, on all hosts of a farm.</param>
/// <param name="Endpoint">The endpoint whose processes are followed.</param>
/// <param name="Where">Conditions that a message meets, all of them; empty for any message.</param>
/// <param name="Count">Messages after which it ends.</param>
/// <param name="For">Time after which it ends.</param>
/// <param name="By">The operator.</param>
/// <param name="Reason">The reason that was given; null without one.</param>
public sealed record TraceOrder(
    Guid Id,
    string Endpoint,
    IReadOnlyList<TraceCondition> Where,
    int Count,
    TimeSpan For,
    string By,
    string? Reason
)
{
    /// <summary>The most messages of a trace.</summary>
    public const int MostMessages = 1_000;

    /// <summary>The shortest trace.</summary>
    public static readonly TimeSpan Shortest = TimeSpan.FromSeconds(1);

    /// <summary>The longest trace.</summary>
    public static readonly TimeSpan Longest = TimeSpan.FromHours(1);
}

/// <summary>A condition of a trace: a business field, or with a prefix a header or a property, has this value.</summary>
/// <param name="Name">A field of the audit, <c>header.NAME</c>, <c>property.NAME</c>, <c>subject</c>, <c>party</c>, <c>key</c> or
/// <c>id</c>.</param>
/// <param name="Value">The value, compared as it may be recorded: a masked value is never found.</param>
public sealed record TraceCondition(string Name, string Value)
{
    /// <summary>Reads <c>name=value</c>; null if it is not of this form.</summary>
    public static TraceCondition? Read(string text) =>
        text.IndexOf('=', StringComparison.Ordinal) is > 0 and var at ? new TraceCondition(text[..at], text[(at + 1)..]) : null;

    /// <inheritdoc/>
    public override string ToString() => $"{Name}={Value}";
}

/// <summary>State of a trace.</summary>
public enum TraceState
{
    /// <summary>It records.</summary>
    Running,

    /// <summary>Its time is over.</summary>
    Ended,

    /// <summary>It has its messages.</summary>
    Full,

    /// <summary>An operator ended it.</summary>
    Stopped,
}

/// <summary>A trace of this host, with the messages that it recorded. Immutable.</summary>
/// <param name="Order">What was asked for.</param>
/// <param name="State">Its state.</param>
/// <param name="StartedAt">When it began.</param>
/// <param name="EndsAt">When it ends at the latest.</param>
/// <param name="Messages">What it recorded, oldest first.</param>
public sealed record ProcessTrace(
    TraceOrder Order,
    TraceState State,
    DateTimeOffset StartedAt,
    DateTimeOffset EndsAt,
    IReadOnlyList<TracedPass> Messages
);
