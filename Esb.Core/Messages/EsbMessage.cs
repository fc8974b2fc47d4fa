namespace Esb.Core.Messages;

/// <summary>A message on its way through the bus: an envelope around a body. Immutable; change it with <c>with</c>, which shares the body.</summary>
/// <remarks>Thread-safe, except that a body which still streams can be read once only (see <see cref="MessageBody"/>).</remarks>
public sealed record EsbMessage
{
    /// <summary>Identifies the message: a version 7 UUID when made here, a stable one when it came with a foreign id (see <see cref="MessageIds"/>).</summary>
    public required Guid Id { get; init; }

    /// <summary>The body; empty by default.</summary>
    public MessageBody Body { get; init; } = MessageBody.Empty;

    /// <summary>The headers that travel with the message; none by default.</summary>
    public MessageHeaders Headers { get; init; } = MessageHeaders.Empty;

    /// <summary>The dotted name it was published under; empty until it is published.</summary>
    public string Subject { get; init; } = "";

    /// <summary>The media type of the body, with its parameters; null where the sender named none.</summary>
    public string? ContentType { get; init; }

    /// <summary>Of a reply, the id of its request; otherwise whatever the sender correlates by. Null where there is none.</summary>
    public string? CorrelationId { get; init; }

    /// <summary>The conversation that the message belongs to: the id of the message that began it.</summary>
    public required Guid ConversationId { get; init; }

    /// <summary>Messages of one key keep their order where an endpoint delivers in order; null means no key.</summary>
    public string? Key { get; init; }

    /// <summary>The party that sent it, as the transport or the credentials proved it, never as a header claims; null where unknown.</summary>
    public string? Party { get; init; }

    /// <summary>When it entered the bus; of a request that came by a broker, when it was asked.</summary>
    public required DateTimeOffset CreatedAt { get; init; }

    /// <summary>Which attempt to deliver it this is, from 1 and by our own count; 0 before the first.</summary>
    public int Attempt { get; init; }

    /// <summary>A new message that begins a conversation.</summary>
    public static EsbMessage Create(MessageBody body, TimeProvider time)
    {
        var now = time.GetUtcNow();
        var id = Guid.CreateVersion7(now);
        return new EsbMessage { Id = id, ConversationId = id, CreatedAt = now, Body = body };
    }

    /// <summary>An answer to this message: same conversation, correlated to its id, an id of its own derived from it.</summary>
    public EsbMessage Reply(MessageBody body, TimeProvider time) => new()
    {
        Id = MessageIds.Derive(Id, "reply"),
        ConversationId = ConversationId,
        CorrelationId = Id.ToString(),
        CreatedAt = time.GetUtcNow(),
        Body = body,
    };
}
