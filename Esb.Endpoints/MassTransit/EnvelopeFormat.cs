using System.Globalization;
using Esb.Core.Brokers;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Endpoints.Brokers;

namespace Esb.Endpoints.MassTransit;

/// <summary>Reads what MassTransit applications send, in an envelope or as raw JSON. Thread-safe.</summary>
/// <param name="config">The endpoint.</param>
/// <param name="maxBodyBytes">The largest body.</param>
/// <param name="answers">Creates the way back to the sender of a request; null if the endpoint gives no answers.</param>
/// <param name="time">The clock.</param>
internal sealed class EnvelopeFormat(
    MassTransitInboundConfig config,
    long maxBodyBytes,
    Func<Envelope, EsbMessage, IAnswerWay>? answers,
    TimeProvider time
) : IDeliveryFormat
{
    /// <summary>The property with the message type, of those configured.</summary>
    public const string TypeProperty = "masstransit.messageType";

    private const string MessageJson = "application/json";
    private const int MaxShown = 100;

    private readonly HeaderRules _rules = new(config.Headers);
    private readonly Dictionary<string, Dictionary<string, object>> _types = config.MessageType.ToDictionary(
        type => type.Urn,
        type => new Dictionary<string, object> { [TypeProperty] = type.Value }
    );

    public IncomingDelivery Read(BrokerMessage delivery)
    {
        try
        {
            if (delivery.Body.Length > maxBodyBytes)
                throw new EsbException("ESB-BODY-SIZE", $"The body is larger than {maxBodyBytes} bytes.", FaultKind.TooLarge);
            var isRaw = IsRaw(delivery.ContentType);
            var envelope = isRaw ? MassTransitHeaders.ReadRaw(delivery) : EnvelopeReader.Read(delivery.Body);
            var properties = PropertiesOf(envelope, isRaw);
            var message = MessageOf(envelope, delivery) with { Properties = properties };
            return new IncomingDelivery(message)
            {
                Parent = MassTransitHeaders.Parent(envelope, delivery),
                AnswerWay = envelope.ResponseAddress is null ? null : answers?.Invoke(envelope, message),
            };
        }
        catch (EsbException ex)
        {
            return new IncomingDelivery(Unread(delivery)) { Refusal = ex };
        }
    }

    private static bool IsRaw(string? contentType)
    {
        var type = contentType.AsSpan();
        if (type.IndexOf(';') is >= 0 and var end)
            type = type[..end];
        type = type.Trim();
        if (type.IsEmpty || type.Equals(Envelope.ContentType, StringComparison.OrdinalIgnoreCase))
            return false;
        if (type.Equals(Envelope.RawContentType, StringComparison.OrdinalIgnoreCase))
            return true;
        throw new EsbException(
            "ESB-MT-CONTENTTYPE",
            $"The content type '{SafeText.Of(contentType, MaxShown)}' cannot be read: expected {Envelope.ContentType} or "
                + $"{Envelope.RawContentType}.",
            FaultKind.Malformed
        );
    }

    // Raw JSON of other programs names no types.
    private Dictionary<string, object> PropertiesOf(Envelope envelope, bool isRaw)
    {
        foreach (var type in envelope.MessageTypes)
        {
            if (_types.TryGetValue(type, out var properties))
                return properties;
        }

        if (isRaw && envelope.MessageTypes.Count == 0)
            return _types[config.MessageType[0].Urn];
        throw new EsbException(
            "ESB-MT-MESSAGETYPE",
            $"The message is of the type '{SafeText.Of(envelope.MessageTypes is [var first, ..] ? first : "none", MaxShown)}', "
                + $"which the endpoint does not receive.",
            FaultKind.Invalid
        );
    }

    private EsbMessage MessageOf(Envelope envelope, BrokerMessage delivery)
    {
        var (id, source) = IdOf(envelope.MessageId ?? delivery.MessageId);
        var headers = _rules.Admit(envelope.Headers, out _);
        if (source is not null)
            headers = headers.With(EsbHeaders.SourceId, source);
        var message = new EsbMessage
        {
            Id = id,
            Body = MessageBody.FromBytes(envelope.Message),
            ContentType = MessageJson,
            Headers = headers,
            CorrelationId = OneLine(envelope.CorrelationId),
            ConversationId = Guid.TryParse(envelope.ConversationId, out var conversation) ? conversation : id,
            CreatedAt = envelope.SentTime ?? delivery.Timestamp ?? time.GetUtcNow(),
        };
        return int.TryParse(delivery.Header(EsbHeaders.Hops), NumberStyles.None, CultureInfo.InvariantCulture, out var hops)
            ? MessageHops.Set(message, hops)
            : message;
    }

    // The bytes as they came, under the id that the message has at every delivery.
    private EsbMessage Unread(BrokerMessage delivery)
    {
        var (id, source) = IdOf(delivery.MessageId);
        return new EsbMessage
        {
            Id = id,
            Body = MessageBody.FromBytes(delivery.Body),
            ContentType = OneLine(delivery.ContentType),
            Headers = source is null ? MessageHeaders.Empty : MessageHeaders.Empty.With(EsbHeaders.SourceId, source),
            ConversationId = id,
            CreatedAt = delivery.Timestamp ?? time.GetUtcNow(),
        };
    }

    private (Guid Id, string? Source) IdOf(string? foreign)
    {
        if (string.IsNullOrEmpty(foreign) || !HeaderRules.IsValue(foreign))
            return (Guid.CreateVersion7(time.GetUtcNow()), null);
        return Guid.TryParse(foreign, out var id) ? (id, null) : (MessageIds.FromForeign(foreign, config.Name), foreign);
    }

    private static string? OneLine(string? text) => text is not null && HeaderRules.IsValue(text) ? text : null;
}
