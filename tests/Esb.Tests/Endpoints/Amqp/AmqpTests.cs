using System.Text.Json;
using Esb.Core.Brokers;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Endpoints.Amqp;
using Esb.Endpoints.Brokers;

namespace Esb.Tests.Endpoints.Amqp;

/// <summary>Messages of foreign AMQP clients, and answers to them.</summary>
public sealed class AmqpTests
{
    private static readonly AmqpInboundConfig Config = new() { Name = "orders", Queue = "orders" };

    private static readonly BrokerMessage Delivery = new()
    {
        Exchange = "shop",
        RoutingKey = "orders.new",
        MessageId = "A-1",
        CorrelationId = "C-1",
        ContentType = "application/xml",
        Body = "<order/>"u8.ToArray(),
        Headers = new Dictionary<string, string>
        {
            ["x-region"] = "eu",
            ["authorization"] = "secret",
            ["esb-key"] = "k",
            ["esb-hops"] = "3",
        },
    };

    [Test]
    public void Message_has_the_body_and_the_properties_of_the_delivery()
    {
        var message = Read(Delivery).Message;

        using (Assert.EnterMultipleScope())
        {
            Assert.That(
                (message.Body.ReadText(), message.ContentType, message.CorrelationId),
                Is.EqualTo(("<order/>", "application/xml", "C-1"))
            );
            Assert.That(
                (message.Headers["x-region"], message.Headers["authorization"], message.Headers[EsbHeaders.Key]),
                Is.EqualTo(("eu", (string?)null, (string?)null))
            );
            Assert.That(
                (message.Headers[EsbHeaders.SourceId], message.Id == Read(Delivery).Message.Id, MessageHops.Of(message)),
                Is.EqualTo(("A-1", true, 3))
            );
            Assert.That(message.Properties![AmqpFormat.RoutingKeyProperty], Is.EqualTo("orders.new"));
        }
    }

    [TestCase("amq.gen-abc", true)]
    [TestCase("amq.rabbitmq.reply-to.g1", true)]
    [TestCase("orders", false)]
    [TestCase("esb.endpoints.shop.orders", false)]
    public async Task Answer_goes_only_to_queues_on_the_list(string queue, bool isAllowed)
    {
        var way = Read(Delivery with { ReplyTo = queue }).AnswerWay!;

        if (isAllowed)
            await way.CheckAsync(CancellationToken.None);
        else
            Assert.That(
                Assert.ThrowsAsync<EsbException>(async () => await way.CheckAsync(CancellationToken.None))!.Code,
                Is.EqualTo("ESB-AMQP-REPLYTO")
            );
    }

    [Test]
    public async Task Answer_has_the_correlation_of_the_request_and_a_fault_its_code()
    {
        var way = Read(Delivery with { ReplyTo = "amq.gen-abc" }).AnswerWay!;

        var answer = await way.AnswerAsync(Some.Message("<price/>", contentType: "application/xml"), CancellationToken.None);
        var fault = way.Fault(new EsbException("SHOP-NO", "No.", FaultKind.Invalid));

        Assert.That(
            (answer.RoutingKey, answer.CorrelationId, answer.ContentType, answer.IsMandatory),
            Is.EqualTo(("amq.gen-abc", "C-1", "application/xml", true))
        );
        Assert.That(
            (fault.Header(EsbHeaders.Fault), JsonDocument.Parse(fault.Body).RootElement.GetProperty("status").GetInt32()),
            Is.EqualTo(("SHOP-NO", 422))
        );
    }

    private static IncomingDelivery Read(BrokerMessage delivery) =>
        new AmqpFormat(Config, 1024, name => name.StartsWith("esb.", StringComparison.Ordinal), TimeProvider.System).Read(delivery);
}
