using System.Globalization;
using System.Text;
using Esb.Core.Messages;
using Esb.Endpoints.MassTransit;

namespace Esb.Tests.Endpoints.MassTransit;

/// <summary>Messages of MassTransit as messages of the bus, and what is no message of MassTransit.</summary>
public sealed class EnvelopeFormatTests
{
    [Test]
    public void Message_has_the_ids_the_time_and_the_admitted_headers_of_its_envelope()
    {
        var message = SomeEnvelopes.Format().Read(SomeEnvelopes.Delivery(SomeEnvelopes.Json())).Message;

        using (Assert.EnterMultipleScope())
        {
            Assert.That(message.Body.ReadText(), Is.EqualTo("""{ "orderId": 5, "customer": "Käse" }"""), "as it is written");
            Assert.That(message.ContentType, Is.EqualTo("application/json"));
            Assert.That(message.Id, Is.EqualTo(Guid.Parse(SomeEnvelopes.MessageId)));
            Assert.That(message.ConversationId, Is.EqualTo(Guid.Parse(SomeEnvelopes.ConversationId)));
            Assert.That(message.CorrelationId, Is.EqualTo(SomeEnvelopes.CorrelationId));
            Assert.That(message.CreatedAt, Is.EqualTo(DateTimeOffset.Parse("2026-11-25T10:00:00.1234567Z", CultureInfo.InvariantCulture)));
            Assert.That(
                message.Headers.ToArray(),
                Is.EquivalentTo(new KeyValuePair<string, string>[] { new("x-region", "eu"), new("x-count", "3") })
            );
            Assert.That(message.Properties![EnvelopeFormat.TypeProperty], Is.EqualTo("Shop.Contracts:OrderAccepted"));
        }
    }

    [Test]
    public void Raw_json_is_a_message_with_what_its_headers_say()
    {
        var delivery = SomeEnvelopes.Delivery("""{"orderId":5}""", "application/json; charset=utf-8") with
        {
            Headers = new Dictionary<string, string>
            {
                ["x-region"] = "eu",
                ["ConversationId"] = SomeEnvelopes.ConversationId,
                ["MT-MessageType"] = "urn:message:Shop.Contracts:OrderAccepted",
            },
        };

        var message = SomeEnvelopes.Format().Read(delivery).Message;

        Assert.That(
            (message.Body.ReadText(), message.Id, message.ConversationId),
            Is.EqualTo(("""{"orderId":5}""", Guid.Parse(SomeEnvelopes.MessageId), Guid.Parse(SomeEnvelopes.ConversationId)))
        );
        Assert.That(message.Headers.ToArray(), Is.EqualTo([new KeyValuePair<string, string>("x-region", "eu")]));
    }

    [TestCase("no json", Envelope.ContentType, "ESB-MT-ENVELOPE")]
    [TestCase("", Envelope.ContentType, "ESB-MT-ENVELOPE")]
    [TestCase("[]", Envelope.ContentType, "ESB-MT-ENVELOPE")]
    [TestCase("""{ "messageType": [] }""", Envelope.ContentType, "ESB-MT-ENVELOPE")]
    [TestCase(
        """{ "messageType": ["urn:message:Shop.Contracts:OrderAccepted"], "message": null }""",
        Envelope.ContentType,
        "ESB-MT-ENVELOPE"
    )]
    [TestCase(
        """{ "messageType": ["urn:message:Shop.Contracts:OrderAccepted"], "message": {} } {}""",
        Envelope.ContentType,
        "ESB-MT-ENVELOPE"
    )]
    [TestCase("""{ "messageType": ["urn:message:Shop.Contracts:OrderAccepted"], "message": {""", Envelope.ContentType, "ESB-MT-ENVELOPE")]
    [TestCase("""{ "messageType": ["urn:message:Shop.Contracts:Other"], "message": {} }""", Envelope.ContentType, "ESB-MT-MESSAGETYPE")]
    [TestCase("""{ "message": {} }""", Envelope.ContentType, "ESB-MT-MESSAGETYPE")]
    [TestCase("[1]", "application/json", "ESB-MT-ENVELOPE")]
    [TestCase("<order/>", "application/xml", "ESB-MT-CONTENTTYPE")]
    public void What_is_no_message_of_the_endpoint_is_refused_with_its_bytes(string body, string contentType, string code)
    {
        var incoming = SomeEnvelopes.Format().Read(SomeEnvelopes.Delivery(body, contentType));

        Assert.That(
            (incoming.Refusal!.Code, incoming.Refusal.IsTransient, incoming.Message.Body.ReadText()),
            Is.EqualTo((code, false, body))
        );
        Assert.That(incoming.Message.Id, Is.EqualTo(Guid.Parse(SomeEnvelopes.MessageId)), "the same at every delivery");
    }

    [TestCase(25_000, Envelope.ContentType)]
    [TestCase(25_000, "application/json")]
    public void Message_that_nests_too_deep_is_refused(int depth, string contentType)
    {
        var nested = $"{string.Concat(Enumerable.Repeat("""{"a":""", depth))}1{new string('}', depth)}";
        var body =
            contentType == Envelope.ContentType
                ? $$"""{"messageType":["urn:message:Shop.Contracts:OrderAccepted"],"message":{{nested}}}"""
                : nested;
        var format = new EnvelopeFormat(SomeEnvelopes.Inbound, maxBodyBytes: 1024 * 1024, answers: null, TimeProvider.System);

        Assert.That(format.Read(SomeEnvelopes.Delivery(body, contentType)).Refusal?.Code, Is.EqualTo("ESB-MT-ENVELOPE"));
    }

    [Test]
    public void Message_that_is_too_large_is_refused() =>
        Assert.That(
            SomeEnvelopes.Format().Read(SomeEnvelopes.Delivery(new string(' ', SomeEnvelopes.MaxBodyBytes) + "{}")).Refusal?.Code,
            Is.EqualTo("ESB-BODY-SIZE")
        );

    [Test]
    public void Text_that_is_no_utf8_is_refused()
    {
        var broken = """{"messageType":["urn:message:Shop.Contracts:OrderAccepted"],"correlationId":"z","message":{}}""";
        var delivery = SomeEnvelopes.Delivery("") with
        {
            Body = Encoding.UTF8.GetBytes(broken).Select(value => value == (byte)'z' ? (byte)0xFF : value).ToArray(),
        };

        Assert.That(SomeEnvelopes.Format().Read(delivery).Refusal?.Code, Is.EqualTo("ESB-MT-ENVELOPE"));
    }

    [Test]
    public void Id_that_is_no_uuid_becomes_the_same_one_at_every_delivery()
    {
        var delivery = SomeEnvelopes.Delivery("""{"orderId":5}""", "application/json") with { MessageId = "order 5" };

        var (first, second) = (SomeEnvelopes.Format().Read(delivery).Message, SomeEnvelopes.Format().Read(delivery).Message);

        Assert.That((first.Id == second.Id, first.Headers[EsbHeaders.SourceId]), Is.EqualTo((true, "order 5")));
    }
}
