using System.Globalization;
using Esb.Core.Brokers;
using Esb.Core.Errors;
using Esb.Core.Messages;

namespace Esb.Endpoints.MassTransit;

/// <summary>Puts messages into envelopes. Thread-safe.</summary>
/// <param name="config">The endpoint.</param>
/// <param name="target">Where they go.</param>
/// <param name="source">The name under which the endpoint sends.</param>
/// <param name="replyAddress">The address for answers; null if none is awaited.</param>
/// <param name="place">The broker.</param>
/// <param name="maxBodyBytes">The largest body.</param>
/// <param name="time">The clock.</param>
internal sealed class OutboundWriter(
    MassTransitOutboundConfig config,
    OutboundTarget target,
    string source,
    Func<BrokerPlace, string>? replyAddress,
    BrokerPlace place,
    long maxBodyBytes,
    TimeProvider time
)
{
    private readonly HeaderRules _rules = new(config.Headers);
    private readonly string[] _types = [.. config.MessageType.Select(type => type.Urn)];
    private readonly string _source = MassTransitNames.AddressOf(place, source);
    private readonly string _destination = MassTransitNames.AddressOf(place, target.Name);
    private readonly string? _replies = replyAddress?.Invoke(place);

    /// <summary>Writes a message.</summary>
    /// <param name="message">The message.</param>
    /// <param name="requestId">The id of the request that it makes; null if no answer is awaited.</param>
    /// <param name="cancellationToken">Cancels reading the body.</param>
    /// <exception cref="EndpointException"><c>ESB-MT-BODY</c>: the body is not a JSON object.</exception>
    public async ValueTask<BrokerMessage> WriteAsync(EsbMessage message, Guid? requestId, CancellationToken cancellationToken)
    {
        var body = await message.Body.BufferAsync(maxBodyBytes, cancellationToken);
        if (!EnvelopeReader.IsObject(body.Span))
            throw new EndpointException(
                config.Name,
                "ESB-MT-BODY",
                "The body is not a JSON object, as a MassTransit application reads it.",
                isTransient: false,
                kind: FaultKind.Invalid
            )
            {
                IsUnsent = true,
            };
        var now = time.GetUtcNow();
        var trace = MassTransitHeaders.CurrentTrace().ToDictionary();
        var envelope = new Envelope
        {
            MessageId = message.Id.ToString(),
            RequestId = requestId?.ToString(),
            // MassTransit reads no others
            CorrelationId = Guid.TryParse(message.CorrelationId, out var correlation) ? correlation.ToString() : null,
            ConversationId = message.ConversationId.ToString(),
            SourceAddress = _source,
            DestinationAddress = _destination,
            ResponseAddress = requestId is null ? null : _replies,
            FaultAddress = requestId is null ? null : _replies,
            MessageTypes = _types,
            Message = body,
            SentTime = now,
            ExpirationTime = requestId is null ? null : now + config.Timeout,
            Headers = [.. _rules.Admit(message.Headers, out _), .. trace],
        };
        var hops = MessageHops.Of(message);
        if (hops > 0)
            trace[EsbHeaders.Hops] = hops.ToString(CultureInfo.InvariantCulture);
        return new BrokerMessage
        {
            Exchange = target.Exchange,
            RoutingKey = target.RoutingKey,
            Body = EnvelopeWriter.Write(envelope),
            ContentType = Envelope.ContentType,
            MessageId = envelope.MessageId,
            CorrelationId = envelope.CorrelationId,
            Timestamp = now,
            TimeToLive = requestId is null ? null : config.Timeout,
            Headers = trace,
            IsMandatory = config.IsMandatory || requestId is not null,
        };
    }
}
