using System.Text.Json;
using Esb.Core.Messages;
using Esb.Core.Storage;

namespace Esb.Storage.Files;

/// <summary>A dead letter as it is stored; the body lies beside it.</summary>
internal sealed record StoredDeadLetter
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

    public required string Endpoint { get; init; }

    public required string Code { get; init; }

    public required string Reason { get; init; }

    public string? ExceptionType { get; init; }

    public int Attempts { get; init; }

    public required DateTimeOffset FirstAttempt { get; init; }

    public required DateTimeOffset LastAttempt { get; init; }

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
        Endpoint = letter.Endpoint,
        Code = letter.Code,
        Reason = letter.Reason,
        ExceptionType = letter.ExceptionType,
        Attempts = letter.Attempts,
        FirstAttempt = letter.FirstAttempt,
        LastAttempt = letter.LastAttempt,
    };

    public DeadLetter With(ReadOnlyMemory<byte> body) => new(
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
        Endpoint, Code, Reason, ExceptionType, Attempts, FirstAttempt, LastAttempt);

    public byte[] Write(ReadOnlyMemory<byte> body) =>
        StoredItems.Write(new StoredItem(JsonSerializer.SerializeToUtf8Bytes(this, StorageJson.Default.StoredDeadLetter), body));

    /// <summary>Reads a record; the body points into it.</summary>
    public static (StoredDeadLetter Letter, ReadOnlyMemory<byte> Body) Read(ReadOnlyMemory<byte> payload)
    {
        var item = StoredItems.Read(payload)[0];
        var letter = JsonSerializer.Deserialize(item.Json.Span, StorageJson.Default.StoredDeadLetter) ?? throw new JsonException("The record holds no dead letter.");
        return (letter, item.Bytes.GetValueOrDefault());
    }
}
