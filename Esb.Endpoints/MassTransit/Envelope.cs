namespace Esb.Endpoints.MassTransit;

/// <summary>The envelope in which MassTransit sends a message
/// (https://masstransit.io/documentation/concepts/messages#message-envelope).</summary>
internal sealed record Envelope
{
    /// <summary>The media type of a message in an envelope.</summary>
    public const string ContentType = "application/vnd.masstransit+json";

    /// <summary>The media type of a message without an envelope.</summary>
    public const string RawContentType = "application/json";

    /// <summary>The id of the message; null if absent.</summary>
    public string? MessageId { get; init; }

    /// <summary>The id of the request that the message is, or answers.</summary>
    public string? RequestId { get; init; }

    public string? CorrelationId { get; init; }

    public string? ConversationId { get; init; }

    public string? InitiatorId { get; init; }

    public string? SourceAddress { get; init; }

    public string? DestinationAddress { get; init; }

    /// <summary>The address that an answer is wanted at.</summary>
    public string? ResponseAddress { get; init; }

    /// <summary>The address that a fault is wanted at; null for the response address.</summary>
    public string? FaultAddress { get; init; }

    /// <summary>The time from which on nobody waits for the message.</summary>
    public DateTimeOffset? ExpirationTime { get; init; }

    public DateTimeOffset? SentTime { get; init; }

    /// <summary>The types of the message, as <c>urn:message:Shop.Contracts:OrderAccepted</c>, the most concrete one first.</summary>
    public IReadOnlyList<string> MessageTypes { get; init; } = [];

    /// <summary>The message: a JSON object.</summary>
    public ReadOnlyMemory<byte> Message { get; init; }

    /// <summary>The headers whose values are text, numbers or truth values, as text.</summary>
    public IReadOnlyList<KeyValuePair<string, string>> Headers { get; init; } = [];
}
