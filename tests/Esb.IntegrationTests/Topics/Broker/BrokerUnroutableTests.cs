using Esb.Core.Endpoints;
using Esb.Core.Messages;
using Esb.Core.Topics;
using Esb.Topics.RabbitMq.Topology;
using RabbitMQ.Client;

namespace Esb.IntegrationTests.Topics.Broker;

/// <summary>What no queue takes is kept on the broker, and told of once.</summary>
[TestFixture]
public sealed class BrokerUnroutableTests : BrokerFixture
{
    [Test, Category("Thorough"), CancelAfter(60_000)]
    [Property("Case", "T-DEL-3")]
    public async Task A_thousand_messages_that_nobody_wants_are_kept_warned_about_once_and_delivered_later(
        CancellationToken cancellationToken
    )
    {
        var messages = Enumerable.Range(0, 1_000).Select(i => Message("orders.lost", $"{i}")).ToList();

        await Task.WhenAll(messages.Select(message => Transport.PublishAsync(message, cancellationToken).AsTask()));
        await Eventually.HoldsAsync(
            async () => (await Transport.Unroutable.SummarizeAsync(0, cancellationToken)).Count == 1_000,
            cancellationToken
        );
        var inbox = new Inbox();
        await SubscribeAsync(inbox, "orders.#");
        var wasEmpty = !inbox.TryNext(out _);
        var replay = await Transport.Unroutable.ReplayAsync(subject: null, limit: 10_000, cancellationToken);
        var delivered = await inbox.NextAsync(1_000, cancellationToken);

        Assert.That(
            (wasEmpty, replay.Replayed, (await Transport.Unroutable.SummarizeAsync(0, cancellationToken)).Count),
            Is.EqualTo((true, 1_000, 0))
        );
        Assert.That(delivered.Select(delivery => delivery.Message.Id), Is.EquivalentTo(messages.Select(message => message.Id)));
        Assert.That(Log.All.Count(line => line.Contains("No endpoint subscribes to orders.lost")), Is.EqualTo(1));
    }

    [Test, CancelAfter(60_000)]
    [Property("Case", "T-DEL-3")]
    public async Task What_is_published_while_a_queue_is_unbound_is_kept_and_nothing_is_lost_or_doubled(CancellationToken cancellationToken)
    {
        var inbox = new Inbox();
        var subscription = Subscription("orders.#");
        await SubscribeAsync(inbox.HandleAsync, subscription);
        var published = new List<Guid>();
        var (queue, topic) = (Broker.Names.Endpoint(subscription.Endpoint), Broker.Names.Topic("orders"));

        for (var i = 0; i < 300; i++)
        {
            if (i == 100)
                await Foreign.QueueUnbindAsync(queue, topic, "orders.#", cancellationToken: cancellationToken);
            if (i == 200)
                await Foreign.QueueBindAsync(queue, topic, "orders.#", cancellationToken: cancellationToken);
            var message = Message("orders.accepted");
            Assert.That((await Transport.PublishAsync(message, cancellationToken)).Outcome, Is.EqualTo(PublishOutcome.Confirmed));
            published.Add(message.Id);
        }

        var kept = (await Transport.Unroutable.SummarizeAsync(1_000, cancellationToken)).Peeked;
        await Eventually.HoldsAsync(
            async () => (await Transport.Unroutable.SummarizeAsync(0, cancellationToken)).Count == kept,
            cancellationToken
        );
        var replay = await Transport.Unroutable.ReplayAsync("orders.accepted", limit: 1_000, cancellationToken);
        var delivered = await inbox.NextAsync(300, cancellationToken);

        Assert.That((kept, replay.Replayed), Is.EqualTo((100, 100)));
        Assert.That(delivered.Select(delivery => delivery.Message.Id), Is.EquivalentTo(published));
        Assert.That(inbox.TryNext(out _), Is.False);
    }

    [TestCase(DeliveryMode.Parallel, null, Category = "Thorough")]
    [TestCase(DeliveryMode.Ordered, null, Category = "Thorough")]
    [TestCase(DeliveryMode.OrderedByKey, 2)]
    [CancelAfter(60_000)]
    public async Task A_queue_that_somebody_unbinds_is_bound_again_and_told_of(
        DeliveryMode delivery,
        int? lanes,
        CancellationToken cancellationToken
    )
    {
        var inbox = new Inbox();
        var subscription = Subscription("orders.#") with
        {
            SingleActive = delivery == DeliveryMode.Ordered,
            Lanes = lanes,
            RetryDelays = [],
        };
        await SubscribeAsync(inbox.HandleAsync, subscription);
        await Eventually.HoldsAsync(() => Transport.Farm.Members.HearingFor > TimeSpan.Zero, cancellationToken);

        var (name, topic) = (Broker.Names.Endpoint(subscription.Endpoint), Broker.Names.Topic("orders"));
        await (
            lanes is null
                ? Foreign.QueueUnbindAsync(name, topic, "orders.#", cancellationToken: cancellationToken)
                : Foreign.ExchangeUnbindAsync(name, topic, "orders.#", cancellationToken: cancellationToken)
        );
        var missed = Message("orders.missed") with { Key = "k" };
        await Transport.PublishAsync(missed, cancellationToken);
        await Eventually.HoldsAsync(() => Log.All.Any(line => line.Contains("orders.missed")), cancellationToken);
        await Eventually.HoldsAsync(
            async () =>
            {
                await Transport.PublishAsync(Message("orders.accepted") with { Key = "k" }, cancellationToken);
                return inbox.TryNext(out _);
            },
            cancellationToken
        );
        await Transport.Unroutable.ReplayAsync("orders.missed", limit: 10, cancellationToken);
        await Eventually.HoldsAsync(() => inbox.TryNext(out var delivered) && delivered!.Message.Id == missed.Id, cancellationToken);

        Assert.That(
            Log.All.Where(line => line.Contains("orders.missed")),
            Has.One.StartsWith("Warning").And.Contains($"although {subscription.Endpoint} subscribes")
        );
    }

    [Test, CancelAfter(60_000)]
    public async Task What_nobody_wants_is_kept_again_after_somebody_deleted_its_queue(CancellationToken cancellationToken)
    {
        await using var watch = await Broker.ConnectAsync();

        await Foreign.QueueDeleteAsync(Broker.Names.Unroutable, cancellationToken: cancellationToken);
        await Eventually.HoldsAsync(() => watch.HasQueueAsync(Broker.Names.Unroutable, cancellationToken), cancellationToken);
        await Eventually.HoldsAsync(
            async () =>
            {
                await Transport.PublishAsync(Message("orders.lost"), cancellationToken);
                return (await Transport.Unroutable.SummarizeAsync(0, cancellationToken)).Count > 0;
            },
            cancellationToken
        );

        Assert.That((await GetForeignAsync(Broker.Names.Unroutable, cancellationToken)).RoutingKey, Is.EqualTo("orders.lost"));
    }

    [Test, CancelAfter(60_000)]
    public async Task A_foreign_message_is_replayed_as_it_was(CancellationToken cancellationToken)
    {
        var sent = new BasicProperties
        {
            MessageId = "order 7",
            ContentType = "text/plain",
            Headers = new Dictionary<string, object?> { ["x-number"] = 42L },
        };
        await PublishForeignAsync("orders.lost", sent);
        var inbox = new Inbox();
        await SubscribeAsync(inbox, "orders.#");

        await Eventually.HoldsAsync(
            async () => (await Transport.Unroutable.ReplayAsync(subject: null, limit: 10, cancellationToken)).Replayed == 1,
            cancellationToken
        );
        var message = (await inbox.NextAsync(cancellationToken)).Message;

        Assert.That(
            (message.Headers[EsbHeaders.SourceId], message.ContentType, message.Headers["x-number"], message.Body.ReadText()),
            Is.EqualTo(("order 7", "text/plain", "42", "foreign"))
        );
    }

    [Test, CancelAfter(60_000)]
    public async Task What_nobody_wants_is_kept_and_warned_about_once(CancellationToken cancellationToken)
    {
        for (var i = 0; i < 5; i++)
            await Transport.PublishAsync(Message("orders.lost", $"{i}"), cancellationToken);
        await Eventually.HoldsAsync(() => Log.All.Any(line => line.Contains("orders.lost")), cancellationToken);

        for (var i = 0; i < 5; i++)
            Assert.That((await GetForeignAsync(Broker.Names.Unroutable, cancellationToken)).RoutingKey, Is.EqualTo("orders.lost"));
        Assert.That(Log.All.Count(line => line.Contains("orders.lost")), Is.EqualTo(1));
    }
}
