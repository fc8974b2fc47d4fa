namespace Esb.Core.Messages;

/// <summary>A message in the bus: an envelope around a body. Immutable; change it with <c>with</c>, which shares the body.</summary>
/// <remarks>Thread-safe, except that a streaming body can be read only once (see <see cref="MessageBody"/>).</remarks>
public sealed record EsbMessage
{
    /// <summary>Identifies the message: a version 7 UUID if created here, a stable one if it came with a foreign id (see
    /// <see cref="MessageIds"/>).</summary>
    public required Guid Id { get; init; }

    /// <summary>The body; empty by default.</summary>
    public MessageBody Body { get; init; } = MessageBody.Empty;

    /// <summary>The headers that travel with the message; none by default.</summary>
    public MessageHeaders Headers { get; init; } = MessageHeaders.Empty;

    /// <summary>The dotted name under which it was published; empty until it is published.</summary>
    public string Subject { get; init; } = "";

    /// <summary>The media type of the body, with its parameters; null if the sender named none.</summary>
    public string? ContentType { get; init; }

    /// <summary>For a reply, the id of its request; otherwise the sender's correlation id. Null if none.</summary>
    public string? CorrelationId { get; init; }

    /// <summary>The conversation of the message: the id of the message that began it.</summary>
    public required Guid ConversationId { get; init; }

    /// <summary>Messages with the same key keep their order at an endpoint that delivers in order; null means no key.</summary>
    public string? Key { get; init; }

    /// <summary>The sending party, as proved by the transport or the credentials, never as claimed by a header; null if unknown.</summary>
    public string? Party { get; init; }

    /// <summary>Time at which it entered the bus; for a request from a broker, the time of the request.</summary>
    public required DateTimeOffset CreatedAt { get; init; }

    /// <summary>Number of the delivery attempt, from 1, as counted by the bus; 0 before the first.</summary>
    public int Attempt { get; init; }

    /// <summary>Properties that the message brings into a process, or takes to an endpoint that a process calls; null if none. They stay in
    /// this host: neither topics nor stores carry them.</summary>
    public IReadOnlyDictionary<string, object>? Properties { get; init; }

    /// <summary>True if its answer is kept, so that a repetition gets the same one: the answer counts as accepted. Stays in this host
    /// too.</summary>
    public bool IsAnswerKept { get; init; }

    /// <summary>The number of the message at the endpoint that sends it, from 1; null if the endpoint needs none. It stays in this host
    /// too.</summary>
    public long? Sequence { get; init; }

    /// <summary>Demands of a call on the request to the external system; null outside a call, and if there are none. They stay in this host
    /// too.</summary>
    public CallRequest? Request { get; init; }

    /// <summary>Creates a message that begins a conversation.</summary>
    /// <param name="body">The body.</param>
    /// <param name="time">The clock.</param>
    /// <param name="headers">The headers; null for none.</param>
    /// <param name="contentType">The media type of the body; null if the sender named none.</param>
    /// <param name="party">The sending party; null if unknown.</param>
    public static EsbMessage Create(
        MessageBody body,
        TimeProvider time,
        MessageHeaders? headers = null,
        string? contentType = null,
        string? party = null
    )
    {
        var now = time.GetUtcNow();
        var id = Guid.CreateVersion7(now);
        return new EsbMessage
        {
            Id = id,
            ConversationId = id,
            CreatedAt = now,
            Body = body,
            Headers = headers ?? MessageHeaders.Empty,
            ContentType = contentType,
            Party = party,
        };
    }

    /// <summary>Creates an answer to this message: same conversation, correlated to its id, with a new id derived from it.</summary>
    /// <param name="body">The body.</param>
    /// <param name="time">The clock.</param>
    /// <param name="headers">The headers; null for none.</param>
    /// <param name="contentType">The media type of the body; null if the sender named none.</param>
    public EsbMessage Reply(MessageBody body, TimeProvider time, MessageHeaders? headers = null, string? contentType = null) =>
        new()
        {
            Id = MessageIds.Derive(Id, "reply"),
            ConversationId = ConversationId,
            CorrelationId = Id.ToString(),
            CreatedAt = time.GetUtcNow(),
            Body = body,
            Headers = headers ?? MessageHeaders.Empty,
            ContentType = contentType,
        };
}
