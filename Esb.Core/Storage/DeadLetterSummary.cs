namespace Esb.Core.Storage;

/// <summary>A kept dead letter without its bytes and headers: a line of a list.</summary>
public sealed record DeadLetterSummary
{
    /// <summary>The most characters of a reason that a summary shows.</summary>
    public const int MaxReasonLength = 500;

    /// <summary>See <see cref="DeadLetter.Id"/>.</summary>
    public required Guid Id { get; init; }

    /// <summary>Its place among the others: larger than that of all that were kept, or came back, before it.</summary>
    public required long Number { get; init; }

    /// <summary>The message.</summary>
    public required Guid MessageId { get; init; }

    /// <summary>The message's conversation.</summary>
    public required Guid ConversationId { get; init; }

    /// <summary>The endpoint that gave it up.</summary>
    public required string Endpoint { get; init; }

    /// <summary>The message's subject.</summary>
    public required string Subject { get; init; }

    /// <summary>The message's order key; null where it has none.</summary>
    public string? Key { get; init; }

    /// <summary>The code of the last failure.</summary>
    public required string Code { get; init; }

    /// <summary>The beginning of its text.</summary>
    public required string Reason { get; init; }

    /// <summary>How often it was tried, replays included.</summary>
    public int Attempts { get; init; }

    /// <summary>When it was first tried.</summary>
    public required DateTimeOffset FirstAttempt { get; init; }

    /// <summary>When it was last tried.</summary>
    public required DateTimeOffset LastAttempt { get; init; }

    /// <summary>Bytes of the body.</summary>
    public long BodyBytes { get; init; }

    /// <summary>What has become of it.</summary>
    public DeadLetterState State { get; init; }

    /// <summary>When its state changed; null where it never did.</summary>
    public DateTimeOffset? ChangedAt { get; init; }

    /// <summary>The operator who changed it; null where its coming back did.</summary>
    public string? ChangedBy { get; init; }

    /// <summary>Why it was discarded.</summary>
    public string? Note { get; init; }

    /// <summary>The last replay job that had it.</summary>
    public Guid? Job { get; init; }

    /// <summary>How often it was replayed.</summary>
    public int Replays { get; init; }

    /// <summary>The message that it was, or will be, sent as: itself, or an edited one with an id of its own.</summary>
    public Guid? ReplayedAs { get; init; }

    /// <summary>The endpoint that it was, or will be, sent to.</summary>
    public string? ReplayedTo { get; init; }
}

/// <summary>A kept dead letter with everything.</summary>
/// <param name="Summary">What has become of it.</param>
/// <param name="Letter">The letter; of one that came back, the last failure and the attempts of all times.</param>
public sealed record KeptDeadLetter(DeadLetterSummary Summary, DeadLetter Letter);
