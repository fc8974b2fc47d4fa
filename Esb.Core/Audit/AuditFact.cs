namespace Esb.Core.Audit;

/// <summary>What happened to a message.</summary>
public enum AuditKind
{
    /// <summary>It came in from outside.</summary>
    Received,

    /// <summary>It was refused at the entry, or by its process.</summary>
    Refused,

    /// <summary>A filter ended its process.</summary>
    Filtered,

    /// <summary>It was published and confirmed.</summary>
    Published,

    /// <summary>An endpoint delivered it.</summary>
    Delivered,

    /// <summary>An attempt to deliver it failed.</summary>
    Failed,

    /// <summary>It was given up and kept.</summary>
    DeadLettered,

    /// <summary>It waits in the line of its key, behind a message that failed or as that message.</summary>
    Parked,

    /// <summary>A request was not worked on, because nobody waited for its answer any more.</summary>
    Expired,

    /// <summary>It was given up and dropped, as configured.</summary>
    Discarded,

    /// <summary>It was answered.</summary>
    Replied,

    /// <summary>It was worked on, but its answer found nobody who waited for it any more.</summary>
    ReplyAbandoned,

    /// <summary>An audit step recorded it.</summary>
    Recorded,

    /// <summary>An operator had it sent to the queue of an endpoint again.</summary>
    Replayed,

    /// <summary>It was recognised as one that had been handled before, and nothing was done.</summary>
    Duplicate,

    /// <summary>Its sender hung up, or the host stopped, before it was complete or done with.</summary>
    Aborted,

    /// <summary>The bodies recorded of it were erased on request.</summary>
    Erased,

    /// <summary>Its process came to its end: nobody waited for an answer, and nothing was published.</summary>
    Completed,

    /// <summary>A step of its process came to its end; with a code where it failed and the process went on.</summary>
    StepEnded,
}

/// <summary>One thing that happened to a message. Immutable.</summary>
public sealed record AuditFact
{
    /// <summary>Identifies the fact: a version 7 UUID, so that facts sort by time.</summary>
    public required Guid Id { get; init; }

    /// <summary>What happened.</summary>
    public required AuditKind Kind { get; init; }

    /// <summary>When.</summary>
    public required DateTimeOffset Time { get; init; }

    /// <summary>The message.</summary>
    public required Guid MessageId { get; init; }

    /// <summary>Its conversation.</summary>
    public required Guid ConversationId { get; init; }

    /// <summary>The message that it was made of: the one its process received, the request it answers, the dead letter it was edited from; null where it came from outside.</summary>
    public Guid? CausedBy { get; init; }

    /// <summary>The endpoint at which it happened; null inside a process that nobody entered by one.</summary>
    public string? Endpoint { get; init; }

    /// <summary>The process in which it happened.</summary>
    public string? Process { get; init; }

    /// <summary>The step of the process at which it happened: its id, or where it stands; null where that says nothing.</summary>
    public string? Step { get; init; }

    /// <summary>The name that an audit step gives it.</summary>
    public string? Name { get; init; }

    /// <summary>The subject it was published under.</summary>
    public string? Subject { get; init; }

    /// <summary>Which attempt; 0 where there are none.</summary>
    public int Attempt { get; init; }

    /// <summary>How long it took; null where nothing was waited for.</summary>
    public TimeSpan? Duration { get; init; }

    /// <summary>The code of a failure.</summary>
    public string? Code { get; init; }

    /// <summary>The text of a failure.</summary>
    public string? Reason { get; init; }

    /// <summary>The trace it belongs to, 32 hexadecimal digits.</summary>
    public string? TraceId { get; init; }

    /// <summary>Who sent it.</summary>
    public string? Party { get; init; }

    /// <summary>The host on which it happened: its machine and process. The audit trail fills it in.</summary>
    public string? Host { get; init; }

    /// <summary>The revision of the configuration that the host ran. The audit trail fills it in.</summary>
    public string? Revision { get; init; }

    /// <summary>Values lifted from the message, for search.</summary>
    public IReadOnlyDictionary<string, string> Fields { get; init; } = NoFields;

    /// <summary>The headers of the message, masked, where they are recorded.</summary>
    public IReadOnlyDictionary<string, string>? Headers { get; init; }

    /// <summary>The media type of <see cref="Body"/>.</summary>
    public string? ContentType { get; init; }

    /// <summary>The body, where it is recorded, as <see cref="BodyState"/> says.</summary>
    public ReadOnlyMemory<byte>? Body { get; init; }

    /// <summary>How much of the message's body <see cref="Body"/> is; null where none was to be recorded.</summary>
    public AuditBodyState? BodyState { get; init; }

    /// <summary>The bytes of the body, masked but whole; <see cref="Body"/> has fewer where only its beginning is recorded. Null where it is not recorded.</summary>
    public long? BodyLength { get; init; }

    /// <summary>SHA-256 of the body, masked but whole; null where it is not recorded.</summary>
    public ReadOnlyMemory<byte>? BodyHash { get; init; }

    private static readonly IReadOnlyDictionary<string, string> NoFields = new Dictionary<string, string>();
}
