using System.Globalization;
using Esb.Core.Brokers;
using Esb.Topics.RabbitMq.Wire;
using RabbitMQ.Client;
using RabbitMQ.Client.Events;

namespace Esb.Topics.RabbitMq.Endpoints;

/// <summary>Converts messages of endpoints to and from those of the client.</summary>
internal static class EndpointWire
{
    public static BasicProperties Properties(BrokerMessage message)
    {
        var properties = new BasicProperties
        {
            ContentType = message.ContentType,
            MessageId = message.MessageId,
            CorrelationId = message.CorrelationId,
            ReplyTo = message.ReplyTo,
            Persistent = message.IsPersistent,
        };
        if (message.Timestamp is { } at)
            properties.Timestamp = new AmqpTimestamp(at.ToUnixTimeSeconds());
        if (message.TimeToLive is { } left)
            properties.Expiration = Math.Max(0, (long)left.TotalMilliseconds).ToString(CultureInfo.InvariantCulture);
        if (message.Headers.Count > 0)
            properties.Headers = message.Headers.ToDictionary(header => header.Key, header => (object?)header.Value);
        return properties;
    }

    /// <summary>Converts a delivery, with a copy of its body.</summary>
    public static QueueDelivery Read(BasicDeliverEventArgs delivery)
    {
        var properties = delivery.BasicProperties;
        if (string.IsNullOrEmpty(properties.MessageId))
            TopicsTelemetry.CountUnidentified();
        var message = new BrokerMessage
        {
            Exchange = delivery.Exchange,
            RoutingKey = delivery.RoutingKey,
            Body = delivery.Body.ToArray(),
            ContentType = properties.ContentType,
            MessageId = properties.MessageId,
            CorrelationId = properties.CorrelationId,
            ReplyTo = properties.ReplyTo,
            Timestamp = properties.IsTimestampPresent() ? HeaderTable.TimeOf(properties.Timestamp) : null,
            TimeToLive =
                long.TryParse(properties.Expiration, NumberStyles.None, CultureInfo.InvariantCulture, out var left) && left <= int.MaxValue
                    ? TimeSpan.FromMilliseconds(left)
                    : null,
            IsPersistent = properties.Persistent,
        };
        if (properties.Headers is { Count: > 0 } headers)
            message = message with { Headers = Texts(headers) };
        return new QueueDelivery(message, delivery.Redelivered);
    }

    private static Dictionary<string, string> Texts(IDictionary<string, object?> headers)
    {
        var texts = new Dictionary<string, string>(headers.Count);
        foreach (var (name, value) in headers)
        {
            if (HeaderTable.TextOf(value) is { } text)
                texts[name] = text;
        }

        return texts;
    }
}
