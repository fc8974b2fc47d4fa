using System.Diagnostics;
using System.Globalization;
using Esb.Core.Brokers;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Expressions;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Endpoints.Brokers;

namespace Esb.Endpoints.Amqp;

/// <summary>Outbound endpoint that publishes messages to a broker, each confirmed.</summary>
/// <remarks>At least once: a message that is sent again has the same message id.</remarks>
internal sealed class AmqpOutboundEndpoint(
    AmqpOutboundConfig config,
    IMessageValue routingKey,
    IBrokerPublisher publisher,
    long maxBodyBytes,
    TimeProvider time
) : IOutboundEndpoint
{
    private const string TraceParent = "traceparent";

    private readonly HeaderRules _rules = new(config.Headers);

    public async ValueTask<EsbMessage?> SendAsync(EsbMessage message, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        var body = await message.Body.BufferAsync(maxBodyBytes, cancellationToken);
        var result = await publisher.PublishAsync(
            new BrokerMessage
            {
                Exchange = config.Exchange ?? "",
                RoutingKey = config.TargetQueue ?? RoutingKeyOf(message),
                Body = body,
                ContentType = message.ContentType,
                MessageId = message.Id.ToString(),
                CorrelationId = message.CorrelationId,
                Timestamp = time.GetUtcNow(),
                Headers = HeadersOf(message),
                IsMandatory = config.Mandatory,
            }
        );
        return BrokerFailures.Of(config.Name, result) is { } failure ? throw failure : null; // a broker gives no answer
    }

    private string RoutingKeyOf(EsbMessage message)
    {
        var key = MessageValues.AsText(routingKey.Evaluate(new MessageContext(message, config.Name))) ?? "";
        return AmqpAddress.IsRoutingKey(key)
            ? key
            : throw new EndpointException(
                config.Name,
                "ESB-AMQP-ROUTINGKEY",
                "The routing key of the message is longer than 255 bytes.",
                isTransient: false,
                kind: FaultKind.Invalid
            )
            {
                IsUnsent = true,
            };
    }

    private Dictionary<string, string> HeadersOf(EsbMessage message)
    {
        var headers = _rules.Admit(message.Headers, out _).ToDictionary();
        if (MessageHops.Of(message) is > 0 and var hops)
            headers[EsbHeaders.Hops] = hops.ToString(CultureInfo.InvariantCulture);
        if (Activity.Current is { IdFormat: ActivityIdFormat.W3C, Id: { } trace })
            headers[TraceParent] = trace;
        return headers;
    }
}
