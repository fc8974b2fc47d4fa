using System.Text.Json;
using Esb.Core.Messages;
using Esb.Core.Storage;

namespace Esb.Storage.Postgres.Parking;

/// <summary>A row of <c>parked_message</c>.</summary>
internal sealed record PostgresParkedRow
{
    public const string Columns =
        """
        message_id as Id, conversation_id as ConversationId, subject, content_type as ContentType, correlation_id as CorrelationId, key, party,
        created_at as CreatedAt, attempt, headers, body, parked_at as ParkedAt, failures
        """;

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

    public DateTime ParkedAt { get; init; }

    public string Failures { get; init; } = "[]";

    /// <summary>The row of a message.</summary>
    public static PostgresParkedRow From(ParkedMessage parked)
    {
        var message = parked.Message;
        return new PostgresParkedRow
        {
            Id = message.Id,
            ConversationId = message.ConversationId,
            Subject = PostgresText.Clean(message.Subject),
            ContentType = PostgresText.Clean(message.ContentType),
            CorrelationId = PostgresText.Clean(message.CorrelationId),
            Key = PostgresText.Clean(message.Key),
            Party = PostgresText.Clean(message.Party),
            CreatedAt = message.CreatedAt.UtcDateTime,
            Attempt = message.Attempt,
            Headers = PostgresFields.ToJson(new Dictionary<string, string>(message.Headers)),
            Body = message.Body.Bytes.ToArray(),
            ParkedAt = parked.ParkedAt.UtcDateTime,
            Failures = ToJson(parked.Failures),
        };
    }

    public ParkedMessage ToParked(DateTimeOffset? dueAt) => new(
        new EsbMessage
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
            Headers = MessageHeaders.From(PostgresFields.FromJson(Headers)),
            Body = MessageBody.FromBytes(Body),
        },
        new DateTimeOffset(ParkedAt),
        FromJson(Failures),
        dueAt);

    public static string ToJson(IReadOnlyList<FailedAttempt> failures) =>
        JsonSerializer.Serialize([.. failures.Select(failure => failure with { Code = PostgresText.Clean(failure.Code), Reason = PostgresText.Clean(failure.Reason) })], StorageJson.Default.IReadOnlyListFailedAttempt);

    public static IReadOnlyList<FailedAttempt> FromJson(string json) => JsonSerializer.Deserialize(json, StorageJson.Default.IReadOnlyListFailedAttempt)!;
}
