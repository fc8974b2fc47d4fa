using Esb.Core.Storage;
using Esb.Storage.Files;

namespace Esb.Storage.Postgres;

/// <summary>A row of <c>dead_letter</c>.</summary>
internal sealed record PostgresDeadLetterRow
{
    public Guid Id { get; init; }

    public Guid ConversationId { get; init; }

    public string Subject { get; init; } = "";

    public string? ContentType { get; init; }

    public string? CorrelationId { get; init; }

    public string? Key { get; init; }

    public string? Party { get; init; }

    public DateTime CreatedAt { get; init; }

    public int Attempt { get; init; }

    public string Headers { get; init; } = "{}";

    public byte[] Body { get; init; } = [];

    public string Endpoint { get; init; } = "";

    public string Code { get; init; } = "";

    public string Reason { get; init; } = "";

    public string? ExceptionType { get; init; }

    public int Attempts { get; init; }

    public DateTime FirstAttempt { get; init; }

    public DateTime LastAttempt { get; init; }

    public DeadLetter ToLetter() => new StoredDeadLetter
    {
        Id = Id,
        ConversationId = ConversationId,
        Subject = Subject,
        ContentType = ContentType,
        CorrelationId = CorrelationId,
        Key = Key,
        Party = Party,
        CreatedAt = new DateTimeOffset(CreatedAt),
        Attempt = Attempt,
        Headers = PostgresFields.FromJson(Headers),
        Endpoint = Endpoint,
        Code = Code,
        Reason = Reason,
        ExceptionType = ExceptionType,
        Attempts = Attempts,
        FirstAttempt = new DateTimeOffset(FirstAttempt),
        LastAttempt = new DateTimeOffset(LastAttempt),
    }.With(Body);
}
