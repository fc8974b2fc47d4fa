using System.Text;
using Esb.Core.Brokers;
using Esb.Core.Messages;
using Esb.Endpoints.Brokers;
using Esb.Endpoints.MassTransit;
using Microsoft.Extensions.Logging.Abstractions;

namespace Esb.Tests.Endpoints.MassTransit;

/// <summary>Builds endpoints and deliveries of MassTransit for tests.</summary>
internal static class SomeEnvelopes
{
    public const int MaxBodyBytes = 64 * 1024;

    public const string MessageId = "01000000-5d1b-0015-4c2b-08de2b1c9f6a";
    public const string ConversationId = "01000000-5d1b-0015-5a51-08de2b1c9f6a";
    public const string CorrelationId = "7b0f0b64-5a0a-4a0e-9a7c-1c1d1e1f2021";
    public const string RequestId = "01000000-5d1b-0015-7777-08de2b1c9f6a";

    public static MassTransitInboundConfig Inbound =>
        new() { Name = "orders", MessageType = [MessageTypeName.Parse("Shop.Contracts:OrderAccepted")!] };

    public static MassTransitOutboundConfig Outbound =>
        new()
        {
            Name = "packed",
            MessageType = [MessageTypeName.Parse("Shop.Contracts:OrderPacked")!, MessageTypeName.Parse("Shop.Contracts:Orders+IPacked")!],
        };

    public static EnvelopeFormat Format(MassTransitInboundConfig? config = null, FakeBrokerAnswers? answers = null) =>
        new(config ?? Inbound, MaxBodyBytes, answers is null ? null : answers.Create, TimeProvider.System);

    /// <summary>An envelope as MassTransit writes it.</summary>
    public static string Json(string message = """{ "orderId": 5, "customer": "Käse" }""", string more = "") =>
        $$"""
            {
              "messageId": "{{MessageId}}", "requestId": "{{RequestId}}", "correlationId": "{{CorrelationId}}", "conversationId": "{{ConversationId}}", "initiatorId": null,
              "sourceAddress": "rabbitmq://broker/shop_bus?temporary=true", "destinationAddress": "rabbitmq://broker/Shop.Contracts:OrderAccepted",
              "messageType": ["urn:message:Shop.Contracts:OrderAccepted", "urn:message:Shop.Contracts:IOrderEvent"],
              "message": {{message}}, "sentTime": "2026-11-25T10:00:00.1234567Z", "headers": { "x-region": "eu", "x-count": 3, "authorization": "secret", "MT-Activity-Id": "x" }{{more}},
              "host": { "machineName": "m", "processId": 1 }
            }
            """;

    public static BrokerMessage Delivery(string body, string? contentType = Envelope.ContentType) =>
        new()
        {
            Exchange = "Shop.Contracts:OrderAccepted",
            Body = Encoding.UTF8.GetBytes(body),
            ContentType = contentType,
            MessageId = MessageId,
        };

    public static string Text(this BrokerMessage message) => Encoding.UTF8.GetString(message.Body.Span);

    public static OutboundWriter Writer(MassTransitOutboundConfig? config = null)
    {
        config ??= Outbound;
        return new OutboundWriter(
            config,
            OutboundTarget.Of(config),
            "esb-shop-packed",
            place => MassTransitNames.AddressOf(place, "replies", isTemporary: true),
            new BrokerPlace("broker", 5672, "/", IsTls: false),
            MaxBodyBytes,
            TimeProvider.System
        );
    }
}

/// <summary>Creates ways to answer, over a publisher that a test looks into.</summary>
internal sealed class FakeBrokerAnswers(MassTransitInboundConfig config, IBrokerPublisher publisher)
{
    private readonly AnswerContext _context = new(
        config,
        new AnswerSender(config.Name, publisher, TimeProvider.System, NullLogger<AnswerSender>.Instance),
        name => name.StartsWith("esb.", StringComparison.Ordinal),
        "esb-shop-prices",
        SomeEnvelopes.MaxBodyBytes,
        TimeProvider.System
    );

    public IAnswerWay Create(Envelope envelope, EsbMessage request) => new AnswerWay(_context, envelope, request);
}
