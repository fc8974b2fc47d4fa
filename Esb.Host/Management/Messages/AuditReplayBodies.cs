using Esb.Core.Audit;
using Esb.Core.Replays;

namespace Esb.Host.Management.Messages;

/// <summary>The request body of a replay of one message from the audit.</summary>
internal sealed record AuditReplayBody
{
    public string? Endpoint { get; init; }
    public Guid? Fact { get; init; }
    public bool Again { get; init; }
    public bool OutOfOrder { get; init; }
    public string? Reason { get; init; }

    public AuditReplayRequest ToRequest(Guid messageId, string? command) =>
        new()
        {
            MessageId = messageId,
            Endpoint = string.IsNullOrEmpty(Endpoint)
                ? throw Problems.Parameter("endpoint", "expected the endpoint that gets the message")
                : Endpoint,
            Fact = Fact,
            Again = Again,
            OutOfOrder = OutOfOrder,
            Command = command,
        };
}

/// <summary>The request body of a replay of all messages that match a filter.</summary>
internal sealed record AuditReplaysBody
{
    /// <summary>The filter; an empty filter selects every message.</summary>
    public FactFilterBody? Filter { get; init; }

    public string? Endpoint { get; init; }

    /// <summary>The maximum number of messages.</summary>
    public int? Limit { get; init; }

    /// <summary>The end of the previous part.</summary>
    public Guid? Before { get; init; }

    /// <summary>The value of <c>first</c> from the first part: the start of the whole run, so that each message counts once.</summary>
    public Guid? First { get; init; }

    public bool Again { get; init; }
    public bool OutOfOrder { get; init; }
    public string? Reason { get; init; }
}

/// <summary>A filter of facts as JSON.</summary>
internal sealed record FactFilterBody
{
    public Guid? Id { get; init; }
    public IReadOnlyDictionary<string, string>? Where { get; init; }
    public string? Endpoint { get; init; }
    public string? Process { get; init; }
    public AuditKind? Kind { get; init; }
    public bool Failed { get; init; }
    public string? Party { get; init; }
    public string? Trace { get; init; }
    public DateTimeOffset? From { get; init; }
    public DateTimeOffset? To { get; init; }

    public AuditQuery ToQuery() =>
        Kind is not null && Failed
            ? throw Problems.Parameter("filter.failed", "expected without kind")
            : MessageParameters.Checked(
                new AuditQuery
                {
                    MessageId = Id,
                    Where = Where ?? new Dictionary<string, string>(),
                    Endpoint = Endpoint,
                    Process = Process,
                    Kind = Kind,
                    OnlyFailures = Failed,
                    Party = Party,
                    TraceId = Trace,
                    From = From,
                    To = To,
                    WithBodies = false,
                }
            );

    public static FactFilterBody Of(AuditQuery query) =>
        new()
        {
            Id = query.MessageId,
            Where = query.Where,
            Endpoint = query.Endpoint,
            Process = query.Process,
            Kind = query.Kind,
            Failed = query.OnlyFailures,
            Party = query.Party,
            Trace = query.TraceId,
            From = query.From,
            To = query.To,
        };
}
