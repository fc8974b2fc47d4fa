using System.Diagnostics;
using System.Globalization;
using Esb.Core.Brokers;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Endpoints.Brokers;

namespace Esb.Endpoints.Amqp;

/// <summary>Reads messages of any AMQP client: the body as it is, what else is known from properties. Thread-safe.</summary>
/// <param name="config">The endpoint.</param>
/// <param name="maxBodyBytes">The largest body.</param>
/// <param name="isOurs">True for names that belong to the bus itself.</param>
/// <param name="time">The clock.</param>
internal sealed class AmqpFormat(AmqpInboundConfig config, long maxBodyBytes, Func<string, bool> isOurs, TimeProvider time)
    : IDeliveryFormat
{
    /// <summary>The property with the routing key of the publish.</summary>
    public const string RoutingKeyProperty = "amqp.routingKey";

    private const string TraceParent = "traceparent";
    private const string TraceState = "tracestate";

    private readonly HeaderRules _rules = new(config.Headers);

    public IncomingDelivery Read(BrokerMessage delivery)
    {
        var message = MessageOf(delivery);
        if (delivery.Body.Length > maxBodyBytes)
            return new IncomingDelivery(message)
            {
                Refusal = new EsbException("ESB-BODY-SIZE", $"The body is larger than {maxBodyBytes} bytes.", FaultKind.TooLarge),
            };
        return new IncomingDelivery(message)
        {
            Parent = ActivityContext.TryParse(delivery.Header(TraceParent), delivery.Header(TraceState), isRemote: true, out var parent)
                ? parent
                : default,
            AnswerWay = string.IsNullOrEmpty(delivery.ReplyTo)
                ? null
                : new AmqpAnswerWay(config, delivery, message, maxBodyBytes, isOurs, time),
        };
    }

    private EsbMessage MessageOf(BrokerMessage delivery)
    {
        var (id, source) = IdOf(delivery.MessageId);
        var headers = _rules.Admit(delivery.Headers, out _);
        if (source is not null)
            headers = headers.With(EsbHeaders.SourceId, source);
        var message = new EsbMessage
        {
            Id = id,
            Body = MessageBody.FromBytes(delivery.Body),
            ContentType = OneLine(delivery.ContentType),
            Headers = headers,
            CorrelationId = OneLine(delivery.CorrelationId),
            ConversationId = id,
            CreatedAt = delivery.Timestamp ?? time.GetUtcNow(),
            Properties = new Dictionary<string, object> { [RoutingKeyProperty] = delivery.RoutingKey },
        };
        return int.TryParse(delivery.Header(EsbHeaders.Hops), NumberStyles.None, CultureInfo.InvariantCulture, out var hops)
            ? MessageHops.Set(message, hops)
            : message;
    }

    // A message without an id cannot be recognised when it comes twice.
    private (Guid Id, string? Source) IdOf(string? foreign)
    {
        if (string.IsNullOrEmpty(foreign) || !HeaderRules.IsValue(foreign))
            return (Guid.CreateVersion7(time.GetUtcNow()), null);
        return Guid.TryParse(foreign, out var id) ? (id, null) : (MessageIds.FromForeign(foreign, config.Name), foreign);
    }

    private static string? OneLine(string? text) => text is not null && HeaderRules.IsValue(text) ? text : null;
}
