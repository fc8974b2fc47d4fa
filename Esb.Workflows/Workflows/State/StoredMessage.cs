using Esb.Core.Messages;

namespace Esb.Workflows.Workflows.State;

/// <summary>A message within the snapshot of an instance.</summary>
internal sealed record StoredMessage
{
    public required Guid Id { get; init; }

    public required Guid Conversation { get; init; }

    public required DateTimeOffset At { get; init; }

    public string? Subject { get; init; }

    public string? Type { get; init; }

    public string? Correlation { get; init; }

    public string? Key { get; init; }

    public string? Party { get; init; }

    public Dictionary<string, string>? Headers { get; init; }

    public ReadOnlyMemory<byte> Body { get; init; }

    public static StoredMessage Of(EsbMessage message) =>
        new()
        {
            Id = message.Id,
            Conversation = message.ConversationId,
            At = message.CreatedAt,
            Subject = message.Subject.Length == 0 ? null : message.Subject,
            Type = message.ContentType,
            Correlation = message.CorrelationId,
            Key = message.Key,
            Party = message.Party,
            Headers = message.Headers.Count == 0 ? null : message.Headers.ToDictionary(header => header.Key, header => header.Value),
            Body = message.Body.Bytes,
        };

    public EsbMessage ToMessage() =>
        new()
        {
            Id = Id,
            ConversationId = Conversation,
            CreatedAt = At,
            Subject = Subject ?? "",
            ContentType = Type,
            CorrelationId = Correlation,
            Key = Key,
            Party = Party,
            Headers = Headers is null ? MessageHeaders.Empty : MessageHeaders.From(Headers),
            Body = MessageBody.FromBytes(Body),
        };
}
