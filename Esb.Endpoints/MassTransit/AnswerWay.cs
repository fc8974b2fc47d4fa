using Esb.Core.Brokers;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Endpoints.Brokers;

namespace Esb.Endpoints.MassTransit;

/// <summary>The parts of answers that are the same for all requests of an endpoint.</summary>
/// <param name="Config">The endpoint.</param>
/// <param name="Sender">Sends the answers, and looks for exchanges.</param>
/// <param name="IsOurs">True for names that belong to the bus itself.</param>
/// <param name="Source">The name of the exchange under which applications reach the endpoint.</param>
/// <param name="MaxBodyBytes">The largest body.</param>
/// <param name="Time">The clock.</param>
internal sealed record AnswerContext(
    MassTransitInboundConfig Config,
    AnswerSender Sender,
    Func<string, bool> IsOurs,
    string Source,
    long MaxBodyBytes,
    TimeProvider Time
);

/// <summary>Answers one request of a MassTransit application: with a typed response, or with a fault.</summary>
/// <remarks>An answer goes only to an exchange of the broker and virtual host that the request came from, which exists and does not belong
/// to the bus: otherwise a sender could have the bus write anywhere.</remarks>
internal sealed class AnswerWay(AnswerContext context, Envelope envelope, EsbMessage request) : IAnswerWay
{
    private const int MaxReason = 2_000;

    private readonly HeaderRules _rules = new(context.Config.Headers);
    private readonly ResponseAddress? _response = ResponseAddress.Parse(envelope.ResponseAddress!);
    private readonly ResponseAddress? _fault = ResponseAddress.Parse(envelope.FaultAddress ?? envelope.ResponseAddress!);

    public async ValueTask CheckAsync(CancellationToken cancellationToken)
    {
        await CheckAsync(_response, cancellationToken);
        if (_fault != _response)
            await CheckAsync(_fault, cancellationToken);
    }

    public async ValueTask<BrokerMessage> AnswerAsync(EsbMessage reply, CancellationToken cancellationToken)
    {
        var body = await reply.Body.BufferAsync(context.MaxBodyBytes, cancellationToken);
        if (!EnvelopeReader.IsObject(body.Span))
            throw new EsbException(
                "ESB-MT-BODY",
                "The answer is not a JSON object, as a MassTransit application reads it.",
                FaultKind.Internal
            );
        return Create(_response!, reply.Id, [context.Config.ReplyType!.Urn], body, _rules.Admit(reply.Headers, out _));
    }

    public BrokerMessage Fault(EsbException failure)
    {
        var id = MessageIds.Derive(request.Id, "fault");
        var body = EnvelopeWriter.WriteFault(id, envelope, failure.Code, FailureText(failure), context.Time.GetUtcNow());
        var types = context.Config.MessageType.Where(type => envelope.MessageTypes.Contains(type.Urn)).Select(type => type.FaultUrn);
        return Create(_fault!, id, [.. types, "urn:message:MassTransit:Fault"], body, MessageHeaders.Empty);
    }

    private static string FailureText(EsbException failure) =>
        failure.Message.Length <= MaxReason ? failure.Message : failure.Message[..MaxReason];

    private BrokerMessage Create(
        ResponseAddress target,
        Guid id,
        IReadOnlyList<string> types,
        ReadOnlyMemory<byte> body,
        MessageHeaders headers
    )
    {
        var now = context.Time.GetUtcNow();
        var trace = MassTransitHeaders.CurrentTrace().ToDictionary();
        var answer = new Envelope
        {
            MessageId = id.ToString(),
            RequestId = envelope.RequestId,
            CorrelationId = envelope.CorrelationId,
            ConversationId = envelope.ConversationId ?? request.ConversationId.ToString(),
            SourceAddress = MassTransitNames.AddressOf(context.Sender.Place, context.Source),
            DestinationAddress = MassTransitNames.AddressOf(context.Sender.Place, target.Exchange),
            MessageTypes = types,
            Message = body,
            SentTime = now,
            Headers = [.. headers, .. trace],
        };
        return new BrokerMessage
        {
            Exchange = target.Exchange,
            Body = EnvelopeWriter.Write(answer),
            ContentType = Envelope.ContentType,
            MessageId = answer.MessageId,
            CorrelationId = answer.CorrelationId,
            Timestamp = now,
            Headers = trace,
            IsMandatory = true,
        };
    }

    private async ValueTask CheckAsync(ResponseAddress? target, CancellationToken cancellationToken)
    {
        if (target is null)
            throw Refused("is no address of an exchange at a RabbitMQ broker");
        if (target.VirtualHost is { } other && other != context.Sender.Place.VirtualHost)
            throw Refused("is in another virtual host");
        if (context.IsOurs(target.Exchange))
            throw Refused("belongs to the bus itself");
        switch (await context.Sender.KnowsAsync(target.Exchange, cancellationToken))
        {
            case true:
                return;
            case false:
                throw Refused("names an exchange that does not exist");
            default:
                throw new EsbException(
                    BrokerFailures.Unavailable,
                    $"The broker of '{context.Config.Name}' cannot be used at the moment.",
                    FaultKind.Unavailable
                );
        }
    }

    private static EsbException Refused(string reason) =>
        new("ESB-AMQP-REPLYTO", $"The address for the answer {reason}; the request was not worked on.", FaultKind.Invalid);
}
