namespace Esb.Core.Audit;

/// <summary>Kinds of events in the life of a message.</summary>
public enum AuditKind
{
    /// <summary>It was received from an external system.</summary>
    Received,

    /// <summary>It was rejected by the inbound endpoint, or by its process.</summary>
    Refused,

    /// <summary>A filter ended its process.</summary>
    Filtered,

    /// <summary>It was published and confirmed.</summary>
    Published,

    /// <summary>An endpoint delivered it.</summary>
    Delivered,

    /// <summary>An attempt to deliver it failed.</summary>
    Failed,

    /// <summary>Delivery was abandoned, and the message was stored as a dead letter.</summary>
    DeadLettered,

    /// <summary>It is parked in the line of its key, behind a failed message or as that message.</summary>
    Parked,

    /// <summary>A request was not processed, because its requester no longer waits for the answer.</summary>
    Expired,

    /// <summary>Delivery was abandoned, and the message was dropped, as configured.</summary>
    Discarded,

    /// <summary>It was answered.</summary>
    Replied,

    /// <summary>It was processed, but its requester no longer waits for the answer.</summary>
    ReplyAbandoned,

    /// <summary>An audit step recorded it.</summary>
    Recorded,

    /// <summary>An operator replayed it to the queue of an endpoint.</summary>
    Replayed,

    /// <summary>It was recognised as a duplicate, and nothing was done.</summary>
    Duplicate,

    /// <summary>Its sender disconnected, or the host stopped, before it was complete or processed.</summary>
    Aborted,

    /// <summary>Its recorded bodies were erased on request.</summary>
    Erased,

    /// <summary>Its process completed without a pending answer and without a publish.</summary>
    Completed,

    /// <summary>A step of its process ended; with a code if it failed and the process continued.</summary>
    StepEnded,
}

/// <summary>One event in the life of a message. Immutable.</summary>
public sealed record AuditFact
{
    /// <summary>Identifies the fact: a version 7 UUID, so that facts sort by time.</summary>
    public required Guid Id { get; init; }

    /// <summary>Kind of the event.</summary>
    public required AuditKind Kind { get; init; }

    /// <summary>Time of the event.</summary>
    public required DateTimeOffset Time { get; init; }

    /// <summary>Id of the message.</summary>
    public required Guid MessageId { get; init; }

    /// <summary>Id of its conversation.</summary>
    public required Guid ConversationId { get; init; }

    /// <summary>Id of the message it was made from: the input of its process, the request it answers, or the dead letter it was edited
    /// from. Null if it came from an external system.</summary>
    public Guid? CausedBy { get; init; }

    /// <summary>The endpoint of the event; null in a process that was not entered through an endpoint.</summary>
    public string? Endpoint { get; init; }

    /// <summary>The process of the event.</summary>
    public string? Process { get; init; }

    /// <summary>The process step of the event: its id, or its path; null if no step applies.</summary>
    public string? Step { get; init; }

    /// <summary>The name given by an audit step.</summary>
    public string? Name { get; init; }

    /// <summary>The subject under which it was published.</summary>
    public string? Subject { get; init; }

    /// <summary>Number of the attempt; 0 if there are no attempts.</summary>
    public int Attempt { get; init; }

    /// <summary>Duration; null if nothing was waited for.</summary>
    public TimeSpan? Duration { get; init; }

    /// <summary>Code of a failure.</summary>
    public string? Code { get; init; }

    /// <summary>Text of a failure.</summary>
    public string? Reason { get; init; }

    /// <summary>Its trace, 32 hexadecimal digits.</summary>
    public string? TraceId { get; init; }

    /// <summary>The party that sent it.</summary>
    public string? Party { get; init; }

    /// <summary>The host of the event: its machine and process. Set by the audit trail.</summary>
    public string? Host { get; init; }

    /// <summary>Revision of the configuration that the host ran. Set by the audit trail.</summary>
    public string? Revision { get; init; }

    /// <summary>Values extracted from the message, for search.</summary>
    public IReadOnlyDictionary<string, string> Fields { get; init; } = NoFields;

    /// <summary>The masked headers of the message, if recorded.</summary>
    public IReadOnlyDictionary<string, string>? Headers { get; init; }

    /// <summary>The media type of <see cref="Body"/>.</summary>
    public string? ContentType { get; init; }

    /// <summary>The body, if recorded, to the extent given by <see cref="BodyState"/>.</summary>
    public ReadOnlyMemory<byte>? Body { get; init; }

    /// <summary>Amount of the message's body in <see cref="Body"/>; null if the body was not to be recorded.</summary>
    public AuditBodyState? BodyState { get; init; }

    /// <summary>Length in bytes of the whole, masked body; <see cref="Body"/> is shorter if truncated. Null if not recorded.</summary>
    public long? BodyLength { get; init; }

    /// <summary>SHA-256 of the whole, masked body; null if not recorded.</summary>
    public ReadOnlyMemory<byte>? BodyHash { get; init; }

    private static readonly IReadOnlyDictionary<string, string> NoFields = new Dictionary<string, string>();
}
