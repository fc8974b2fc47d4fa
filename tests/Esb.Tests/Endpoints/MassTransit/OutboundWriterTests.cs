using System.Text.Json;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Endpoints.MassTransit;

namespace Esb.Tests.Endpoints.MassTransit;

/// <summary>Messages of the bus in the envelope of MassTransit.</summary>
public sealed class OutboundWriterTests
{
    private static readonly EsbMessage Message = Some.Message("""{"orderId":5}""") with
    {
        CorrelationId = SomeEnvelopes.CorrelationId,
        Headers = MessageHeaders.Empty.With("x-region", "eu").With("authorization", "secret").With(EsbHeaders.Hops, "2"),
    };

    [Test]
    public async Task Envelope_has_types_ids_and_admitted_headers()
    {
        var written = await SomeEnvelopes.Writer().WriteAsync(Message, requestId: null, CancellationToken.None);

        var envelope = JsonDocument.Parse(written.Body).RootElement;
        using (Assert.EnterMultipleScope())
        {
            Assert.That(
                (written.Exchange, written.RoutingKey, written.ContentType, written.IsMandatory),
                Is.EqualTo(("Shop.Contracts:OrderPacked", "", Envelope.ContentType, false))
            );
            Assert.That(
                Texts(envelope.GetProperty("messageType")),
                Is.EqualTo(["urn:message:Shop.Contracts:OrderPacked", "urn:message:Shop.Contracts:Orders+IPacked"])
            );
            Assert.That(envelope.GetProperty("messageId").GetGuid(), Is.EqualTo(Message.Id));
            Assert.That(envelope.GetProperty("conversationId").GetGuid(), Is.EqualTo(Message.ConversationId));
            Assert.That(envelope.GetProperty("correlationId").GetString(), Is.EqualTo(SomeEnvelopes.CorrelationId));
            Assert.That(envelope.GetProperty("destinationAddress").GetString(), Is.EqualTo("rabbitmq://broker/Shop.Contracts:OrderPacked"));
            Assert.That(envelope.GetProperty("message").GetRawText(), Is.EqualTo("""{"orderId":5}"""));
            Assert.That(
                envelope.GetProperty("headers").EnumerateObject().Select(header => header.Name),
                Does.Contain("x-region").And.Not.Contain("authorization").And.Not.Contain(EsbHeaders.Hops)
            );
            Assert.That(envelope.TryGetProperty("requestId", out _), Is.False);
            Assert.That(written.Header(EsbHeaders.Hops), Is.EqualTo("2"), "ends loops");
        }
    }

    [Test]
    public async Task Same_message_has_the_same_id_at_every_attempt()
    {
        var (first, second) = (await WriteAsync(), await WriteAsync());

        Assert.That(first.MessageId, Is.EqualTo(second.MessageId));

        async Task<Core.Brokers.BrokerMessage> WriteAsync() =>
            await SomeEnvelopes.Writer().WriteAsync(Message, requestId: null, CancellationToken.None);
    }

    [Test]
    public async Task Correlation_id_that_is_no_uuid_stays_here()
    {
        var written = await SomeEnvelopes
            .Writer()
            .WriteAsync(Message with { CorrelationId = "order 5" }, requestId: null, CancellationToken.None);

        Assert.That(
            JsonDocument.Parse(written.Body).RootElement.TryGetProperty("correlationId", out _),
            Is.False,
            "the application could not read it"
        );
    }

    [TestCase("queue:stock", "", "stock")]
    [TestCase("exchange:stock", "stock", "")]
    public async Task Message_that_is_sent_must_find_a_queue(string send, string exchange, string routingKey)
    {
        var written = await SomeEnvelopes
            .Writer(SomeEnvelopes.Outbound with { Send = send })
            .WriteAsync(Message, requestId: null, CancellationToken.None);

        Assert.That((written.Exchange, written.RoutingKey, written.IsMandatory), Is.EqualTo((exchange, routingKey, true)));
    }

    [Test]
    public async Task Request_names_where_its_answer_goes_and_how_long_it_waits()
    {
        var (config, request) = (
            SomeEnvelopes.Outbound with
            {
                ReplyType = MessageTypeName.Parse("Shop.Contracts:Stock"),
                Timeout = TimeSpan.FromSeconds(7),
            },
            Guid.NewGuid()
        );

        var written = await SomeEnvelopes.Writer(config).WriteAsync(Message, request, CancellationToken.None);

        var envelope = JsonDocument.Parse(written.Body).RootElement;
        Assert.That(
            (envelope.GetProperty("requestId").GetGuid(), written.TimeToLive, written.IsMandatory),
            Is.EqualTo((request, TimeSpan.FromSeconds(7), true))
        );
        Assert.That(envelope.GetProperty("responseAddress").GetString(), Is.EqualTo("rabbitmq://broker/replies?temporary=true"));
    }

    [TestCase("<order/>")]
    [TestCase("[1]")]
    [TestCase("")]
    public void Body_that_is_no_json_object_is_not_sent(string body)
    {
        var failure = Assert.ThrowsAsync<EndpointException>(async () =>
            await SomeEnvelopes.Writer().WriteAsync(Some.Message(body), requestId: null, CancellationToken.None)
        )!;

        Assert.That((failure.Code, failure.IsTransient, failure.IsUnsent), Is.EqualTo(("ESB-MT-BODY", false, true)));
    }

    private static IEnumerable<string?> Texts(JsonElement list) => list.EnumerateArray().Select(item => item.GetString());
}
