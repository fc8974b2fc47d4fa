using System.Text.Json;
using Esb.Core.Storage;
using Esb.Storage.DeadLetters;

namespace Esb.Storage.Postgres.DeadLetters;

/// <summary>A row of <c>dead_letter</c>; of a list, without what lists do not show.</summary>
internal sealed record PostgresDeadLetterRow
{
    /// <summary>The columns that lists show.</summary>
    public const string SummaryColumns =
        """
        number, message_id as MessageId, endpoint, conversation_id as ConversationId, subject, key, created_at as CreatedAt, code, left(reason, 500) as Reason, attempts,
        first_attempt as FirstAttempt, last_attempt as LastAttempt, octet_length(body) as BodyBytes,
        state, changed_at as ChangedAt, changed_by as ChangedBy, note, job, replays, replayed_as as ReplayedAs, replayed_to as ReplayedTo
        """;

    /// <summary>All columns.</summary>
    public const string Columns =
        """
        number, message_id as MessageId, endpoint, conversation_id as ConversationId, subject, key, created_at as CreatedAt, code, reason, attempts,
        first_attempt as FirstAttempt, last_attempt as LastAttempt, octet_length(body) as BodyBytes,
        state, changed_at as ChangedAt, changed_by as ChangedBy, note, job, replays, replayed_as as ReplayedAs, replayed_to as ReplayedTo,
        content_type as ContentType, correlation_id as CorrelationId, party, attempt, headers, body, exception_type as ExceptionType, failures, trace_parent as TraceParent
        """;

    public long Number { get; init; }

    public Guid MessageId { get; init; }

    public Guid ConversationId { get; init; }

    public string Subject { get; init; } = "";

    public string? ContentType { get; init; }

    public string? CorrelationId { get; init; }

    public string? Key { get; init; }

    public string? Party { get; init; }

    public DateTime CreatedAt { get; init; }

    public int Attempt { get; init; }

    public string Headers { get; init; } = "{}";

    public string? TraceParent { get; init; }

    public byte[] Body { get; init; } = [];

    public long BodyBytes { get; init; }

    public string Endpoint { get; init; } = "";

    public string Code { get; init; } = "";

    public string Reason { get; init; } = "";

    public string? ExceptionType { get; init; }

    public int Attempts { get; init; }

    public DateTime FirstAttempt { get; init; }

    public DateTime LastAttempt { get; init; }

    public string Failures { get; init; } = "[]";

    public string State { get; init; } = "";

    public DateTime? ChangedAt { get; init; }

    public string? ChangedBy { get; init; }

    public string? Note { get; init; }

    public Guid? Job { get; init; }

    public int Replays { get; init; }

    public Guid? ReplayedAs { get; init; }

    public string? ReplayedTo { get; init; }

    public DeadLetterSummary ToSummary() => ToStored().Summarize(BodyBytes);

    public KeptDeadLetter ToLetter() => ToStored().With(Body);

    private StoredDeadLetter ToStored() => new()
    {
        Id = MessageId,
        ConversationId = ConversationId,
        Subject = Subject,
        ContentType = ContentType,
        CorrelationId = CorrelationId,
        Key = Key,
        Party = Party,
        CreatedAt = new DateTimeOffset(CreatedAt),
        Attempt = Attempt,
        Headers = PostgresFields.FromJson(Headers),
        TraceParent = TraceParent,
        Endpoint = Endpoint,
        Code = Code,
        Reason = Reason,
        ExceptionType = ExceptionType,
        Attempts = Attempts,
        FirstAttempt = new DateTimeOffset(FirstAttempt),
        LastAttempt = new DateTimeOffset(LastAttempt),
        Failures = JsonSerializer.Deserialize(Failures, StorageJson.Default.IReadOnlyListFailedAttempt)!,
        Number = Number,
        State = Enum.Parse<DeadLetterState>(State),
        ChangedAt = ChangedAt is { } changed ? new DateTimeOffset(changed) : null,
        ChangedBy = ChangedBy,
        Note = Note,
        Job = Job,
        Replays = Replays,
        ReplayedAs = ReplayedAs,
        ReplayedTo = ReplayedTo,
    };
}
