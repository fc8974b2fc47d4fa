using System.Text;
using Esb.Core.Messages;
using Esb.Core.Topics;
using RabbitMQ.Client;

namespace Esb.IntegrationTests.Topics.Foreign;

/// <summary>Any AMQP client can publish to a topic and read from one; none can pretend to be the bus.</summary>
[TestFixture]
public sealed class ForeignClientTests : BrokerFixture
{
    [Test, CancelAfter(60_000)]
    public async Task A_kind_of_delivery_is_believed_of_no_foreign_client_to_a_topic_nor_past_it(CancellationToken cancellationToken)
    {
        var inbox = new Inbox();
        var subscription = Subscription("orders.#");
        await SubscribeAsync(inbox.HandleAsync, subscription);
        var claiming = new BasicProperties
        {
            Headers = new Dictionary<string, object?>
            {
                ["esb-kind"] = "release",
                ["esb-subject"] = "orders.stolen",
                ["esb-party"] = "admin",
            },
        };

        await PublishForeignAsync("orders.accepted", claiming);
        var claimed = await inbox.NextAsync(cancellationToken);
        await Foreign.BasicPublishAsync(
            "",
            Broker.Names.Endpoint(subscription.Endpoint),
            mandatory: true,
            claiming,
            "direct"u8.ToArray(),
            cancellationToken
        );
        var direct = await inbox.NextAsync(cancellationToken);

        Assert.That(
            (claimed.Kind, claimed.Message.Subject, claimed.Message.Party),
            Is.EqualTo((DeliveryKind.Published, "orders.accepted", (string?)null))
        );
        Assert.That(
            (direct.Kind, direct.Message.Subject, direct.Message.Party),
            Is.EqualTo((DeliveryKind.Published, Broker.Names.Endpoint(subscription.Endpoint), (string?)null))
        );
    }

    [Test, CancelAfter(60_000)]
    public async Task A_foreign_message_is_delivered_like_ours(CancellationToken cancellationToken)
    {
        var inbox = new Inbox();
        await SubscribeAsync(inbox, "orders.#");
        var id = Guid.NewGuid();
        var sent = new BasicProperties
        {
            MessageId = id.ToString(),
            ContentType = "text/plain",
            CorrelationId = "c-1",
            Timestamp = new AmqpTimestamp(1_700_000_000),
            Headers = new Dictionary<string, object?>
            {
                ["x-text"] = "ä",
                ["x-number"] = 42L,
                ["x-flag"] = true,
                ["esb-key"] = "k",
            },
        };

        await PublishForeignAsync("orders.accepted", sent);
        var message = (await inbox.NextAsync(cancellationToken)).Message;

        Assert.Multiple(() =>
        {
            Assert.That(
                (message.Id, message.Subject, message.ContentType, message.CorrelationId, message.Key),
                Is.EqualTo((id, "orders.accepted", "text/plain", "c-1", "k"))
            );
            Assert.That((message.Party, message.ConversationId, message.Body.ReadText()), Is.EqualTo(((string?)null, id, "foreign")));
            Assert.That(message.CreatedAt, Is.EqualTo(DateTimeOffset.FromUnixTimeSeconds(1_700_000_000)));
            Assert.That(
                message.Headers.Select(header => $"{header.Key}={header.Value}"),
                Is.EquivalentTo(new[] { "x-text=ä", "x-number=42", "x-flag=true" })
            );
        });
    }

    [Test, CancelAfter(60_000)]
    [Property("Case", "AMQ-03")]
    public async Task A_foreign_id_that_is_no_uuid_gives_the_same_id_each_time_and_a_missing_one_a_new_id(
        CancellationToken cancellationToken
    )
    {
        var inbox = new Inbox();
        await SubscribeAsync(inbox, "orders.#");

        await PublishForeignAsync("orders.a", new BasicProperties { MessageId = "order 7" });
        await PublishForeignAsync("orders.b", new BasicProperties { MessageId = "order 7" });
        await PublishForeignAsync("orders.a", new BasicProperties());
        await PublishForeignAsync("orders.a", new BasicProperties());
        var messages = (await inbox.NextAsync(4, cancellationToken)).ConvertAll(delivery => delivery.Message);

        Assert.That(messages[0].Id, Is.EqualTo(MessageIds.FromForeign("order 7", "orders")).And.EqualTo(messages[1].Id));
        Assert.That(messages[0].Headers[EsbHeaders.SourceId], Is.EqualTo("order 7"));
        Assert.That(messages[2].Id, Is.Not.EqualTo(messages[3].Id).And.Not.EqualTo(Guid.Empty));
    }

    [Test, CancelAfter(60_000)]
    [Property("Case", "HDR-01"), Property("Case", "HDR-02")]
    public async Task What_only_the_bus_may_say_is_not_believed(CancellationToken cancellationToken)
    {
        var inbox = new Inbox();
        var subscription = Subscription("orders.#");
        await SubscribeAsync(inbox.HandleAsync, subscription);
        var death = new Dictionary<string, object?>
        {
            ["queue"] = Broker.Names.Rung(subscription.Endpoint, TimeSpan.FromMilliseconds(200)),
            ["reason"] = "expired",
            ["count"] = 1L,
        };
        var claims = new Dictionary<string, object?>
        {
            ["esb-attempt"] = 99,
            ["esb-party"] = "bank",
            ["esb-subject"] = "orders.other",
            ["esb-fault"] = "F",
            ["Esb-Source-Id"] = "s",
            ["MT-Fault-Address"] = "queue:other",
            ["x-death"] = new List<object?> { death },
            ["x-delivery-count"] = 5L,
            ["x-kept"] = "yes",
        };

        await PublishForeignAsync("orders.accepted", new BasicProperties { MessageId = Guid.NewGuid().ToString(), Headers = claims });
        var message = (await inbox.NextAsync(cancellationToken)).Message;

        Assert.That((message.Attempt, message.Party, message.Subject), Is.EqualTo((0, (string?)null, "orders.accepted")));
        Assert.That(message.Headers, Is.EquivalentTo(new[] { KeyValuePair.Create("x-kept", "yes") }));
    }

    [Test, CancelAfter(20_000)]
    [Property("Case", "HDR-12")]
    public async Task Priority_lifetime_and_delay_of_a_message_change_nothing_however_large_or_small(CancellationToken cancellationToken)
    {
        var inbox = new Inbox();
        await SubscribeAsync(inbox, "orders.#");
        var headers = new Dictionary<string, object?> { ["x-delay"] = -1, ["x-priority"] = 99_999 };

        await PublishForeignAsync(
            "orders.accepted",
            new BasicProperties
            {
                Priority = 255,
                Expiration = "864000000",
                Headers = headers,
            }
        ); // ten days
        var message = (await inbox.NextAsync(cancellationToken)).Message;

        Assert.That(
            message.Headers.Select(header => $"{header.Key}={header.Value}"),
            Is.EquivalentTo(new[] { "x-delay=-1", "x-priority=99999" })
        );
    }

    [Test, CancelAfter(60_000)]
    [Property("Case", "AMQ-07"), Property("Case", "HDR-05"), Property("Case", "HDR-10"), Property("Case", "HDR-13")]
    public async Task Hostile_headers_cost_neither_the_message_nor_the_consumer(CancellationToken cancellationToken)
    {
        var inbox = new Inbox();
        await SubscribeAsync(inbox, "orders.#");
        object nested = "bottom";
        for (var depth = 0; depth < 1_000; depth++)
            nested = new Dictionary<string, object?> { ["n"] = nested };
        var hostile = new Dictionary<string, object?>
        {
            ["x-nested"] = nested,
            ["x-list"] = new List<object?> { 1, "a" },
            ["x-null"] = null,
            ["x-decimal"] = 1.5m,
            ["x-time"] = new AmqpTimestamp(long.MaxValue),
            ["x-binary"] = new byte[] { 0xFF, 0xFE, 0x41 },
            ["x-lines"] = "a\r\nb",
            ["name with spaces"] = "1",
            ["esb-conversation"] = "no uuid",
            ["esb-key"] = 7,
            ["traceparent"] = "garbage",
        };

        await PublishForeignAsync(
            "orders.accepted",
            new BasicProperties
            {
                ContentType = "???",
                Timestamp = new AmqpTimestamp(long.MaxValue),
                Headers = hostile,
            }
        );
        var delivery = await inbox.NextAsync(cancellationToken);

        Assert.That(delivery.Message.Headers.Select(header => header.Key), Is.EquivalentTo(new[] { "x-decimal", "x-binary" }));
        Assert.That(
            (delivery.Message.Key, delivery.Parent, delivery.Message.ContentType),
            Is.EqualTo(("7", default(System.Diagnostics.ActivityContext), "???"))
        );
        Assert.That(delivery.Message.CreatedAt, Is.EqualTo(TimeProvider.System.GetUtcNow()).Within(TimeSpan.FromMinutes(1)));
    }

    [Test, CancelAfter(60_000)]
    [Property("Case", "HDR-03"), Property("Case", "HDR-05"), Property("Case", "HDR-06")]
    public async Task Properties_of_several_lines_become_no_headers_and_neither_does_a_list_of_copies(CancellationToken cancellationToken)
    {
        var inbox = new Inbox();
        await SubscribeAsync(inbox, "orders.#");
        var hostile = new BasicProperties
        {
            MessageId = "m\r\nX-Evil: 1",
            ContentType = "text/plain\r\nX-Evil: 1",
            CorrelationId = "c\r\nX-Evil: 1",
            Headers = new Dictionary<string, object?>
            {
                ["CC"] = new List<object?> { "orders.copied" },
                ["BCC"] = new List<object?> { "orders.hidden" },
                ["x-kept"] = "yes",
            },
        };

        await PublishForeignAsync("orders.accepted", hostile);
        var message = (await inbox.NextAsync(cancellationToken)).Message;

        Assert.That((message.ContentType, message.CorrelationId), Is.EqualTo(((string?)null, (string?)null)));
        Assert.That(message.Headers, Is.EquivalentTo(new[] { KeyValuePair.Create("x-kept", "yes") }));
    }

    [Test, CancelAfter(60_000)]
    [Property("Case", "AMQ-06")]
    public async Task A_body_over_the_limit_becomes_a_dead_letter_and_the_endpoint_goes_on(CancellationToken cancellationToken)
    {
        var inbox = new Inbox();
        await SubscribeAsync(inbox, "orders.#");

        await PublishForeignAsync("orders.big", new BasicProperties { MessageId = Guid.NewGuid().ToString() }, new string('x', 100_001));
        await PublishForeignAsync("orders.small", new BasicProperties());
        var letter = await NextDeadLetterAsync(cancellationToken);

        Assert.That((await inbox.NextAsync(cancellationToken)).Message.Subject, Is.EqualTo("orders.small"));
        Assert.That(
            (letter.Code, letter.Message.Subject, letter.Message.Body.Length),
            Is.EqualTo(("ESB-AMQP-SIZE", "orders.big", 100_001))
        );
    }

    [Test, CancelAfter(60_000)]
    [Property("Case", "HDR-08")]
    public async Task Headers_that_could_not_be_written_again_make_a_dead_letter_without_them(CancellationToken cancellationToken)
    {
        var inbox = new Inbox();
        await SubscribeAsync(inbox, "orders.#");
        var headers = new Dictionary<string, object?> { ["x-big"] = new string('x', 100_000) };

        await PublishForeignAsync("orders.big", new BasicProperties { Headers = headers });
        await PublishForeignAsync("orders.small", new BasicProperties());
        var letter = await NextDeadLetterAsync(cancellationToken);

        Assert.That((await inbox.NextAsync(cancellationToken)).Message.Subject, Is.EqualTo("orders.small"));
        Assert.That((letter.Code, letter.Message.Subject, letter.Message.Headers.Count), Is.EqualTo(("ESB-HDR-LIMIT", "orders.big", 0)));
    }

    [Test, CancelAfter(60_000)]
    public async Task A_foreign_client_reads_our_messages_without_an_envelope(CancellationToken cancellationToken)
    {
        var queue = (await Foreign.QueueDeclareAsync(cancellationToken: cancellationToken)).QueueName;
        await Foreign.QueueBindAsync(queue, Broker.Names.Topic("orders"), "orders.#", cancellationToken: cancellationToken);
        var message = Message("orders.accepted", "<grüße/>") with
        {
            ContentType = "application/xml",
            CorrelationId = "c",
            Key = "k",
            Headers = MessageHeaders.Empty.With("x-a", "1"),
        };

        await Transport.PublishAsync(message, cancellationToken);
        var found = await GetForeignAsync(queue, cancellationToken);
        var properties = found.BasicProperties;

        Assert.Multiple(() =>
        {
            Assert.That(found.Body.ToArray(), Is.EqualTo(Encoding.UTF8.GetBytes("<grüße/>")));
            Assert.That(
                (
                    properties.MessageId,
                    properties.CorrelationId,
                    properties.ContentType,
                    properties.Timestamp.UnixTime,
                    properties.Persistent
                ),
                Is.EqualTo((message.Id.ToString(), "c", "application/xml", message.CreatedAt.ToUnixTimeSeconds(), true))
            );
            Assert.That(Text(properties, "esb-conversation"), Is.EqualTo(message.ConversationId.ToString()));
            Assert.That((Text(properties, "esb-key"), Text(properties, "x-a")), Is.EqualTo(("k", "1")));
            Assert.That(properties.Headers!.Keys, Is.EquivalentTo(new[] { "esb-conversation", "esb-key", "x-a" }));
        });
    }

    [Test, CancelAfter(60_000)]
    public async Task Messages_of_a_topic_that_is_not_persistent_are_transient(CancellationToken cancellationToken)
    {
        var queue = (await Foreign.QueueDeclareAsync(cancellationToken: cancellationToken)).QueueName;
        await Foreign.QueueBindAsync(queue, Broker.Names.Topic("prices"), "#", cancellationToken: cancellationToken);

        await Transport.PublishAsync(Message("prices.changed"), cancellationToken);

        Assert.That((await GetForeignAsync(queue, cancellationToken)).BasicProperties.Persistent, Is.False);
    }

    private static string? Text(IReadOnlyBasicProperties properties, string header) =>
        properties.Headers![header] is byte[] bytes ? Encoding.UTF8.GetString(bytes) : null;
}
