using System.Diagnostics;
using Esb.Core.Messages;
using Esb.Core.Topics;

namespace Esb.IntegrationTests.Topics.Contracts;

/// <summary>What every transport must do with a message between its publisher and its subscribers.</summary>
public abstract class TopicTransportContract(ITransportUnderTest underTest) : TopicTransportFixture(underTest)
{
    [Test, CancelAfter(60_000)]
    public async Task A_published_message_reaches_its_subscriber_as_it_was(CancellationToken cancellationToken)
    {
        var inbox = new Inbox();
        await SubscribeAsync(inbox, "orders.accepted");
        byte[] body = [0x00, 0xFF, 0xFE, 0x3C, 0x0A, 0x80];
        var message = Message("orders.accepted", body) with
        {
            ContentType = "application/xml; charset=iso-8859-1",
            CorrelationId = "caller-7",
            Key = "customer-äöü",
            Headers = MessageHeaders.From([new("x-order", "4711"), new("x-name", "Grüße")]),
        };

        var result = await Transport.PublishAsync(message, cancellationToken);
        var delivered = (await inbox.NextAsync(cancellationToken)).Message;

        Assert.Multiple(() =>
        {
            Assert.That(result.Outcome, Is.EqualTo(PublishOutcome.Confirmed));
            Assert.That(delivered.Id, Is.EqualTo(message.Id));
            Assert.That(delivered.Body.Bytes.ToArray(), Is.EqualTo(body));
            Assert.That(delivered.Subject, Is.EqualTo("orders.accepted"));
            Assert.That(delivered.ContentType, Is.EqualTo(message.ContentType));
            Assert.That(delivered.CorrelationId, Is.EqualTo("caller-7"));
            Assert.That(delivered.ConversationId, Is.EqualTo(message.ConversationId));
            Assert.That(delivered.Key, Is.EqualTo("customer-äöü"));
            Assert.That(delivered.Attempt, Is.Zero);
            Assert.That(delivered.CreatedAt, Is.EqualTo(message.CreatedAt).Within(TimeSpan.FromSeconds(1)));
            Assert.That(delivered.Headers, Is.EquivalentTo(message.Headers));
        });
    }

    [TestCase("orders.*", "orders.accepted", true)]
    [TestCase("orders.*", "orders.accepted.late", false)]
    [TestCase("orders.#", "orders.accepted.late", true)]
    [TestCase("orders.#", "orders", true)]
    [TestCase("orders.*.late", "orders.accepted.late", true)]
    [TestCase("orders.accepted", "orders.refused", false)]
    [CancelAfter(60_000)]
    public async Task A_pattern_takes_the_subjects_it_matches(
        string pattern,
        string subject,
        bool matches,
        CancellationToken cancellationToken
    )
    {
        var inbox = new Inbox();
        var all = new Inbox();
        await SubscribeAsync(inbox, pattern);
        await SubscribeAsync(all, "orders.#");

        await Transport.PublishAsync(Message(subject), cancellationToken);
        await all.NextAsync(cancellationToken);

        if (matches)
            Assert.That((await inbox.NextAsync(cancellationToken)).Message.Subject, Is.EqualTo(subject));
        else
            Assert.That(inbox.TryNext(out _), Is.False);
    }

    [Test, CancelAfter(60_000)]
    public async Task Every_subscriber_gets_a_message_once_however_many_of_its_patterns_match(CancellationToken cancellationToken)
    {
        var left = new Inbox();
        var right = new Inbox();
        await SubscribeAsync(left, "orders.accepted", "orders.*", "orders.#");
        await SubscribeAsync(right, "orders.#");

        await Transport.PublishAsync(Message("orders.accepted", "first"), cancellationToken);
        await Transport.PublishAsync(Message("orders.accepted", "second"), cancellationToken);
        var atLeft = await left.NextAsync(2, cancellationToken);
        var atRight = await right.NextAsync(2, cancellationToken);

        Assert.That(Texts(atLeft), Is.EqualTo(new[] { "first", "second" }));
        Assert.That(Texts(atRight), Is.EqualTo(new[] { "first", "second" }));
    }

    [Test, CancelAfter(60_000)]
    public async Task Topics_are_apart(CancellationToken cancellationToken)
    {
        var orders = new Inbox();
        var prices = new Inbox();
        await SubscribeAsync(orders, "orders.#");
        await SubscribeAsync(prices, "prices.#");

        await Transport.PublishAsync(Message("prices.changed"), cancellationToken);
        await Transport.PublishAsync(Message("orders.accepted"), cancellationToken);

        Assert.That((await orders.NextAsync(cancellationToken)).Message.Subject, Is.EqualTo("orders.accepted"));
        Assert.That((await prices.NextAsync(cancellationToken)).Message.Subject, Is.EqualTo("prices.changed"));
    }

    [Test, CancelAfter(20_000)]
    public async Task As_many_deliveries_are_worked_on_at_once_as_the_subscription_says(CancellationToken cancellationToken)
    {
        var atOnce = 0;
        var allTogether = new TaskCompletionSource();
        await SubscribeAsync(
            async (_, _) =>
            {
                if (Interlocked.Increment(ref atOnce) == 4)
                    allTogether.TrySetResult();
                await allTogether.Task.WaitAsync(cancellationToken);
                return Settlement.Done;
            },
            Subscription("orders.#") with
            {
                Concurrency = 4,
            }
        );

        for (var i = 0; i < 4; i++)
            await Transport.PublishAsync(Message("orders.accepted"), cancellationToken);

        await allTogether.Task.WaitAsync(cancellationToken);
        Assert.That(atOnce, Is.EqualTo(4));
    }

    [Test, CancelAfter(60_000)]
    public async Task A_big_body_arrives_whole(CancellationToken cancellationToken)
    {
        var inbox = new Inbox();
        await SubscribeAsync(inbox, "orders.#");
        var body = new byte[4 * 1024 * 1024];
        new Random(7).NextBytes(body);

        await Transport.PublishAsync(Message("orders.accepted", body), cancellationToken);

        Assert.That((await inbox.NextAsync(cancellationToken)).Message.Body.Bytes.Span.SequenceEqual(body), Is.True);
    }

    [Test, CancelAfter(60_000)]
    public async Task An_empty_body_arrives_empty(CancellationToken cancellationToken)
    {
        var inbox = new Inbox();
        await SubscribeAsync(inbox, "orders.#");

        await Transport.PublishAsync(Message("orders.accepted", ""), cancellationToken);

        Assert.That((await inbox.NextAsync(cancellationToken)).Message.Body.Bytes.Length, Is.Zero);
    }

    [Test, CancelAfter(60_000)]
    [Property("Case", "HDR-01"), Property("Case", "HDR-02"), Property("Case", "HDR-03")]
    public async Task Reserved_headers_do_not_travel(CancellationToken cancellationToken)
    {
        var inbox = new Inbox();
        var hijacked = new Inbox();
        await SubscribeAsync(inbox, "orders.accepted");
        await SubscribeAsync(hijacked, "orders.stolen");
        var headers = MessageHeaders.From([
            new("CC", "orders.stolen"),
            new("bcc", "orders.stolen"),
            new("x-death", "1"),
            new("ESB-Attempt", "9"),
            new("esb-fault", "F"),
            new("MT-Fault-Address", "queue:other"),
            new("x-delivery-count", "3"),
            new("x-kept", "yes"),
        ]);

        await Transport.PublishAsync(Message("orders.accepted") with { Headers = headers }, cancellationToken);
        var delivered = (await inbox.NextAsync(cancellationToken)).Message;

        Assert.That(delivered.Headers, Is.EquivalentTo(new[] { KeyValuePair.Create("x-kept", "yes") }));
        Assert.That(delivered.Attempt, Is.Zero);
        Assert.That(hijacked.TryNext(out _), Is.False);
    }

    [Test, CancelAfter(60_000)]
    public async Task A_delivery_knows_the_trace_of_its_publisher(CancellationToken cancellationToken)
    {
        var inbox = new Inbox();
        await SubscribeAsync(inbox, "orders.#");
        using var activity = new Activity("publisher").SetIdFormat(ActivityIdFormat.W3C).Start();

        await Transport.PublishAsync(Message("orders.accepted"), cancellationToken);
        var parent = (await inbox.NextAsync(cancellationToken)).Parent;

        Assert.That((parent.TraceId, parent.SpanId), Is.EqualTo((activity.TraceId, activity.SpanId)));
    }

    [Test, CancelAfter(60_000)]
    public async Task A_cancelled_token_stops_a_publish_before_it_begins(CancellationToken cancellationToken)
    {
        var inbox = new Inbox();
        await SubscribeAsync(inbox, "orders.#");

        Assert.ThrowsAsync<OperationCanceledException>(async () =>
            await Transport.PublishAsync(Message("orders.accepted", "never"), new CancellationToken(canceled: true))
        );
        await Transport.PublishAsync(Message("orders.accepted", "now"), cancellationToken);

        Assert.That((await inbox.NextAsync(cancellationToken)).Message.Body.ReadText(), Is.EqualTo("now"));
    }
}
