using Esb.Core.Messages;
using Esb.Core.Storage;

namespace Esb.Storage.TakeOver;

/// <summary>A dead letter and its later state, as release 0.1 wrote it to a segment; the body is stored beside it.</summary>
internal sealed record EarlierLetter
{
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

    /// <summary>This letter with its changes since it was written.</summary>
    public EarlierLetter As(DeadLetterSummary now) =>
        this with
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

    public DeadLetterSummary Summarize(long bodyBytes) =>
        new()
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

    private DeadLetter ToLetter(ReadOnlyMemory<byte> body) =>
        new(
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
            Endpoint,
            Code,
            Reason,
            ExceptionType,
            Attempts,
            FirstAttempt,
            LastAttempt
        )
        {
            Failures = Failures,
            TraceParent = TraceParent,
        };
}
