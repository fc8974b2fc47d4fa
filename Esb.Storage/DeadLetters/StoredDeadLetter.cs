using Esb.Core.Messages;
using Esb.Core.Storage;

namespace Esb.Storage.DeadLetters;

/// <summary>A dead letter, and what has become of it, as it is stored; the body lies beside it.</summary>
internal sealed record StoredDeadLetter
{
    // More than a message is ever tried, however often it is replayed by reason.
    private const int MaxFailures = 100;

    public required Guid Id { get; init; }

    public required Guid ConversationId { get; init; }

    public required string Subject { get; init; }

    public string? ContentType { get; init; }

    public string? CorrelationId { get; init; }

    public string? Key { get; init; }

    public string? Party { get; init; }

    public required DateTimeOffset CreatedAt { get; init; }

    public int Attempt { get; init; }

    public required IReadOnlyDictionary<string, string> Headers { get; init; }

    public string? TraceParent { get; init; }

    public required string Endpoint { get; init; }

    public required string Code { get; init; }

    public required string Reason { get; init; }

    public string? ExceptionType { get; init; }

    public int Attempts { get; init; }

    public required DateTimeOffset FirstAttempt { get; init; }

    public required DateTimeOffset LastAttempt { get; init; }

    public IReadOnlyList<FailedAttempt> Failures { get; init; } = [];

    public long Number { get; init; }

    public DeadLetterState State { get; init; }

    public DateTimeOffset? ChangedAt { get; init; }

    public string? ChangedBy { get; init; }

    public string? Note { get; init; }

    public Guid? Job { get; init; }

    public int Replays { get; init; }

    public Guid? ReplayedAs { get; init; }

    public string? ReplayedTo { get; init; }

    /// <summary>A letter that nobody has decided on.</summary>
    public static StoredDeadLetter From(DeadLetter letter) => new()
    {
        Id = letter.Message.Id,
        ConversationId = letter.Message.ConversationId,
        Subject = letter.Message.Subject,
        ContentType = letter.Message.ContentType,
        CorrelationId = letter.Message.CorrelationId,
        Key = letter.Message.Key,
        Party = letter.Message.Party,
        CreatedAt = letter.Message.CreatedAt,
        Attempt = letter.Message.Attempt,
        Headers = new Dictionary<string, string>(letter.Message.Headers),
        TraceParent = letter.TraceParent,
        Endpoint = letter.Endpoint,
        Code = letter.Code,
        Reason = letter.Reason,
        ExceptionType = letter.ExceptionType,
        Attempts = letter.Attempts,
        FirstAttempt = letter.FirstAttempt,
        LastAttempt = letter.LastAttempt,
        Failures = letter.Failures,
    };

    /// <summary>This letter after it failed anew: open again, with the failures of all times.</summary>
    public StoredDeadLetter After(DeadLetter failure, DateTimeOffset now) => this with
    {
        Code = failure.Code,
        Reason = failure.Reason,
        ExceptionType = failure.ExceptionType,
        Attempts = Attempts + failure.Attempts,
        LastAttempt = failure.LastAttempt,
        Failures = [.. Failures.Concat(failure.Failures).TakeLast(MaxFailures)],
        State = DeadLetterState.Open,
        Replays = State == DeadLetterState.Replaying ? Replays + 1 : Replays, // it came back before anybody was told that it had been sent
        ChangedAt = now,
        ChangedBy = null,
        Note = null,
    };

    /// <summary>This letter with what has become of it since it was written.</summary>
    public StoredDeadLetter As(DeadLetterSummary now) => this with
    {
        Number = now.Number,
        State = now.State,
        ChangedAt = now.ChangedAt,
        ChangedBy = now.ChangedBy,
        Note = now.Note,
        Job = now.Job,
        Replays = now.Replays,
        ReplayedAs = now.ReplayedAs,
        ReplayedTo = now.ReplayedTo,
    };

    public DeadLetterSummary Summarize(long bodyBytes) => new()
    {
        Id = DeadLetter.IdOf(Id, Endpoint),
        Number = Number,
        MessageId = Id,
        ConversationId = ConversationId,
        Endpoint = Endpoint,
        Subject = Subject,
        Key = Key,
        Code = Code,
        Reason = Reason.Length <= DeadLetterSummary.MaxReasonLength ? Reason : Reason[..DeadLetterSummary.MaxReasonLength],
        Attempts = Attempts,
        FirstAttempt = FirstAttempt,
        LastAttempt = LastAttempt,
        BodyBytes = bodyBytes,
        State = State,
        ChangedAt = ChangedAt,
        ChangedBy = ChangedBy,
        Note = Note,
        Job = Job,
        Replays = Replays,
        ReplayedAs = ReplayedAs,
        ReplayedTo = ReplayedTo,
    };

    public KeptDeadLetter With(ReadOnlyMemory<byte> body) => new(Summarize(body.Length), ToLetter(body));

    private DeadLetter ToLetter(ReadOnlyMemory<byte> body) => new(
        new EsbMessage
        {
            Id = Id,
            ConversationId = ConversationId,
            Subject = Subject,
            ContentType = ContentType,
            CorrelationId = CorrelationId,
            Key = Key,
            Party = Party,
            CreatedAt = CreatedAt,
            Attempt = Attempt,
            Headers = MessageHeaders.From(Headers),
            Body = MessageBody.FromBytes(body),
        },
        Endpoint, Code, Reason, ExceptionType, Attempts, FirstAttempt, LastAttempt)
    {
        Failures = Failures,
        TraceParent = TraceParent,
    };
}
