using System.Text.Json;
using Esb.Core.Errors;
using Esb.Endpoints.MassTransit;
using Esb.Tests.Endpoints.Brokers;

namespace Esb.Tests.Endpoints.MassTransit;

/// <summary>Answers to MassTransit applications: where they may go (AMQ-11), and how they look.</summary>
public sealed class AnswerWayTests
{
    private static readonly MassTransitInboundConfig Prices = SomeEnvelopes.Inbound with
    {
        ReplyType = MessageTypeName.Parse("Shop.Contracts:Price"),
    };

    private readonly FakePublisher _publisher = new()
    {
        Exchanges = new HashSet<string> { "client", "esb.topics.orders" },
    };

    [TestCase("rabbitmq://elsewhere:5673/client?temporary=true")]
    [TestCase("rabbitmqs://broker/client")]
    [TestCase("amqp://broker/%2F/client", Description = "the virtual host / is written out")]
    [TestCase("exchange:client")]
    public async Task Existing_exchange_of_the_virtual_host_may_be_answered(string address) =>
        await WayTo(address).CheckAsync(CancellationToken.None);

    [TestCase("rabbitmq://broker/other/client", "virtual host")]
    [TestCase("rabbitmq://broker/esb.topics.orders", "the bus itself")]
    [TestCase("exchange:esb.topics.orders", "the bus itself")]
    [TestCase("rabbitmq://broker/gone", "does not exist")]
    [TestCase("sb://broker/client", "no address")]
    [TestCase("loopback://localhost/client", "no address")]
    [TestCase("rabbitmq://broker/", "no address")]
    [TestCase("rabbitmq://broker/a/b/c", "no address")]
    [TestCase("client", "no address")]
    public void Any_other_address_is_refused_before_the_request_is_worked_on(string address, string reason)
    {
        var failure = Assert.ThrowsAsync<EsbException>(async () => await WayTo(address).CheckAsync(CancellationToken.None))!;

        Assert.That((failure.Code, failure.IsTransient), Is.EqualTo(("ESB-AMQP-REPLYTO", false)));
        Assert.That(failure.Message, Does.Contain(reason));
    }

    [Test]
    public void Address_of_faults_is_checked_too() =>
        Assert.ThrowsAsync<EsbException>(async () =>
            await WayTo("exchange:client", """, "faultAddress": "rabbitmq://broker/esb.topics.orders" """)
                .CheckAsync(CancellationToken.None)
        );

    [Test]
    public void Request_waits_while_the_broker_cannot_be_asked()
    {
        _publisher.Exchanges = null;

        Assert.That(
            Assert.ThrowsAsync<EsbException>(async () => await WayTo("exchange:client").CheckAsync(CancellationToken.None))!.IsTransient,
            Is.True
        );
    }

    [Test]
    public async Task Answer_is_of_the_reply_type_and_belongs_to_the_request()
    {
        var answer = await WayTo("exchange:client").AnswerAsync(Some.Message("""{"amount":9.95}"""), CancellationToken.None);

        var envelope = JsonDocument.Parse(answer.Body).RootElement;
        using (Assert.EnterMultipleScope())
        {
            Assert.That((answer.Exchange, answer.ContentType, answer.IsMandatory), Is.EqualTo(("client", Envelope.ContentType, true)));
            Assert.That(envelope.GetProperty("messageType")[0].GetString(), Is.EqualTo("urn:message:Shop.Contracts:Price"));
            Assert.That(envelope.GetProperty("requestId").GetString(), Is.EqualTo(SomeEnvelopes.RequestId));
            Assert.That(envelope.GetProperty("conversationId").GetString(), Is.EqualTo(SomeEnvelopes.ConversationId));
            Assert.That(envelope.GetProperty("message").GetRawText(), Is.EqualTo("""{"amount":9.95}"""));
        }
    }

    [Test]
    public void Answer_that_is_no_json_object_is_a_failure() =>
        Assert.That(
            Assert
                .ThrowsAsync<EsbException>(async () =>
                    await WayTo("exchange:client").AnswerAsync(Some.Message("<price/>"), CancellationToken.None)
                )!
                .Code,
            Is.EqualTo("ESB-MT-BODY")
        );

    [Test]
    public void Failure_is_the_fault_of_the_type_with_the_code_as_type_of_the_exception()
    {
        var fault = WayTo("exchange:client").Fault(new EsbException("SHOP-NOARTICLE", "There is no such article.", FaultKind.Invalid));

        var envelope = JsonDocument.Parse(fault.Body).RootElement;
        using (Assert.EnterMultipleScope())
        {
            Assert.That(
                envelope.GetProperty("messageType")[0].GetString(),
                Is.EqualTo("urn:message:MassTransit:Fault[[Shop.Contracts:OrderAccepted]]")
            );
            Assert.That(envelope.GetProperty("requestId").GetString(), Is.EqualTo(SomeEnvelopes.RequestId));
            var exception = envelope.GetProperty("message").GetProperty("exceptions")[0];
            Assert.That(
                (exception.GetProperty("exceptionType").GetString(), exception.GetProperty("message").GetString()),
                Is.EqualTo(("SHOP-NOARTICLE", "There is no such article."))
            );
            Assert.That(
                envelope.GetProperty("message").GetProperty("message").GetProperty("orderId").GetInt32(),
                Is.EqualTo(5),
                "the request comes back"
            );
        }
    }

    private Esb.Endpoints.Brokers.IAnswerWay WayTo(string address, string more = "")
    {
        var format = SomeEnvelopes.Format(Prices, new FakeBrokerAnswers(Prices, _publisher));
        return format.Read(SomeEnvelopes.Delivery(SomeEnvelopes.Json(more: $$""", "responseAddress": "{{address}}"{{more}}"""))).AnswerWay!;
    }
}
