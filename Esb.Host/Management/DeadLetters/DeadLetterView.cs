using Esb.Core.Storage;

namespace Esb.Host.Management.DeadLetters;

/// <summary>A dead letter in API responses: a list entry, or the full letter without its body.</summary>
internal sealed record DeadLetterView
{
    public required Guid Id { get; init; }
    public required Guid MessageId { get; init; }
    public required Guid ConversationId { get; init; }
    public required string Endpoint { get; init; }
    public required string Subject { get; init; }
    public string? Key { get; init; }
    public required string Code { get; init; }
    public required string Reason { get; init; }
    public required int Attempts { get; init; }
    public required DateTimeOffset FirstAttempt { get; init; }
    public required DateTimeOffset LastAttempt { get; init; }
    public required long BodyBytes { get; init; }
    public required DeadLetterState State { get; init; }
    public DateTimeOffset? ChangedAt { get; init; }
    public string? ChangedBy { get; init; }
    public string? Note { get; init; }
    public Guid? Job { get; init; }
    public int Replays { get; init; }
    public Guid? ReplayedAs { get; init; }
    public string? ReplayedTo { get; init; }

    // The following members are set for a single letter only.
    public string? ExceptionType { get; init; }
    public string? ContentType { get; init; }
    public string? CorrelationId { get; init; }
    public string? Party { get; init; }
    public DateTimeOffset? CreatedAt { get; init; }
    public string? TraceParent { get; init; }
    public IReadOnlyDictionary<string, string>? Headers { get; init; }
    public IReadOnlyList<FailedAttempt>? Failures { get; init; }

    /// <summary>The SHA-256 of the body as it came.</summary>
    public string? BodyDigest { get; init; }

    /// <summary>The edit that is sent in place of the body; absent if it was not edited.</summary>
    public LetterEditView? Edit { get; init; }

    public static DeadLetterView Of(DeadLetterSummary letter) =>
        new()
        {
            Id = letter.Id,
            MessageId = letter.MessageId,
            ConversationId = letter.ConversationId,
            Endpoint = letter.Endpoint,
            Subject = letter.Subject,
            Key = letter.Key,
            Code = letter.Code,
            Reason = letter.Reason,
            Attempts = letter.Attempts,
            FirstAttempt = letter.FirstAttempt,
            LastAttempt = letter.LastAttempt,
            BodyBytes = letter.BodyBytes,
            State = letter.State,
            ChangedAt = letter.ChangedAt,
            ChangedBy = letter.ChangedBy,
            Note = letter.Note,
            Job = letter.Job,
            Replays = letter.Replays,
            ReplayedAs = letter.ReplayedAs,
            ReplayedTo = letter.ReplayedTo,
        };

    public static DeadLetterView Of(KeptDeadLetter kept)
    {
        var letter = kept.Letter;
        return Of(kept.Summary) with
        {
            Reason = letter.Reason,
            ExceptionType = letter.ExceptionType,
            ContentType = letter.Message.ContentType,
            CorrelationId = letter.Message.CorrelationId,
            Party = letter.Message.Party,
            CreatedAt = letter.Message.CreatedAt,
            TraceParent = letter.TraceParent,
            Headers = new Dictionary<string, string>(letter.Message.Headers),
            Failures = letter.Failures,
            BodyDigest = LetterEdit.DigestOf(letter.Message.Body.Bytes),
            Edit = kept.Edit is { } edit ? LetterEditView.Of(edit) : null,
        };
    }
}

/// <summary>An edit of a dead letter in API responses.</summary>
/// <param name="Digest">The SHA-256 of the edited body.</param>
/// <param name="Bytes">Bytes of the edited body.</param>
/// <param name="ContentType">Its media type; null for that of the letter.</param>
/// <param name="MessageId">The id under which it is sent.</param>
/// <param name="At">Time of the edit.</param>
/// <param name="By">The operator.</param>
/// <param name="Reason">The reason; null if none was given.</param>
internal sealed record LetterEditView(
    string Digest,
    long Bytes,
    string? ContentType,
    Guid MessageId,
    DateTimeOffset At,
    string By,
    string? Reason
)
{
    public static LetterEditView Of(LetterEdit edit) =>
        new(LetterEdit.DigestOf(edit.Body), edit.Body.Length, edit.ContentType, edit.MessageId, edit.At, edit.By, edit.Reason);
}
