namespace Esb.Core.Storage;

/// <summary>A stored dead letter without its bytes and headers: a line of a list.</summary>
public sealed record DeadLetterSummary
{
    /// <summary>Maximum characters of a reason in a summary.</summary>
    public const int MaxReasonLength = 500;

    /// <summary>See <see cref="DeadLetter.Id"/>.</summary>
    public required Guid Id { get; init; }

    /// <summary>Sequence number, larger than those of all letters stored, or reopened, before it.</summary>
    public required long Number { get; init; }

    /// <summary>The message.</summary>
    public required Guid MessageId { get; init; }

    /// <summary>The message's conversation.</summary>
    public required Guid ConversationId { get; init; }

    /// <summary>The endpoint that abandoned it.</summary>
    public required string Endpoint { get; init; }

    /// <summary>The message's subject.</summary>
    public required string Subject { get; init; }

    /// <summary>The message's order key; null if it has none.</summary>
    public string? Key { get; init; }

    /// <summary>The code of the last failure.</summary>
    public required string Code { get; init; }

    /// <summary>Beginning of its text.</summary>
    public required string Reason { get; init; }

    /// <summary>Number of attempts, including replays.</summary>
    public int Attempts { get; init; }

    /// <summary>Time of the first attempt.</summary>
    public required DateTimeOffset FirstAttempt { get; init; }

    /// <summary>Time of the last attempt.</summary>
    public required DateTimeOffset LastAttempt { get; init; }

    /// <summary>Bytes of the body.</summary>
    public long BodyBytes { get; init; }

    /// <summary>Its state.</summary>
    public DeadLetterState State { get; init; }

    /// <summary>Time of the last change of state; null if it never changed.</summary>
    public DateTimeOffset? ChangedAt { get; init; }

    /// <summary>The operator that changed the state; null if a new failure did.</summary>
    public string? ChangedBy { get; init; }

    /// <summary>Reason why it was discarded.</summary>
    public string? Note { get; init; }

    /// <summary>The last replay job that held it.</summary>
    public Guid? Job { get; init; }

    /// <summary>Number of replays.</summary>
    public int Replays { get; init; }

    /// <summary>Id under which it was, or will be, sent: its own, or that of its edited message.</summary>
    public Guid? ReplayedAs { get; init; }

    /// <summary>The endpoint to which it was, or will be, sent.</summary>
    public string? ReplayedTo { get; init; }
}

/// <summary>A stored dead letter with all details.</summary>
/// <param name="Summary">Its summary, with its state.</param>
/// <param name="Letter">The letter; after a repeated failure, with the last failure and all attempts.</param>
public sealed record KeptDeadLetter(DeadLetterSummary Summary, DeadLetter Letter)
{
    /// <summary>The edited body that is sent in its place; null if it was not edited.</summary>
    public LetterEdit? Edit { get; init; }

    /// <summary>The body that a replay sends.</summary>
    public ReadOnlyMemory<byte> CurrentBody => Edit?.Body ?? Letter.Message.Body.Bytes;
}
