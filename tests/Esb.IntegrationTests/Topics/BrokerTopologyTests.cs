using Esb.Core.Endpoints;
using Esb.Core.Messages;
using Esb.Core.Storage;
using Esb.Core.Topics;
using RabbitMQ.Client;

namespace Esb.IntegrationTests.Topics;

/// <summary>What the transport makes of queues, exchanges and the broker's answers.</summary>
[TestFixture]
public sealed class BrokerTopologyTests : BrokerFixture
{
    [Test, CancelAfter(20_000)]
    public async Task A_subscription_whose_start_was_cancelled_does_not_consume(CancellationToken cancellationToken)
    {
        var subscription = Subscription("orders.#");
        Broker.Note(subscription);
        var (cancelled, inbox) = (new Inbox(), new Inbox());

        Assert.CatchAsync<OperationCanceledException>(() => Transport.SubscribeAsync(subscription, cancelled.HandleAsync, new CancellationToken(canceled: true)));
        await SubscribeAsync(inbox.HandleAsync, subscription);
        for (var i = 0; i < 20; i++) await Transport.PublishAsync(Message("orders.accepted", $"{i}"), cancellationToken);

        Assert.That(await inbox.NextAsync(20, cancellationToken), Has.Count.EqualTo(20));
        Assert.That(cancelled.TryNext(out _), Is.False);
    }

    [Test, CancelAfter(20_000)]
    public async Task A_full_queue_refuses(CancellationToken cancellationToken)
    {
        var end = new TaskCompletionSource();
        await SubscribeAsync(
            async (_, _) =>
            {
                await end.Task;
                return Settlement.Done;
            },
            Subscription("orders.#") with { Prefetch = 1, Queue = new QueueConfig { MaxLength = 1 } });
        var outcomes = new List<PublishOutcome>();

        while (!outcomes.Contains(PublishOutcome.Refused) && outcomes.Count < 50) outcomes.Add((await Transport.PublishAsync(Message("orders.accepted"), cancellationToken)).Outcome);
        end.SetResult();

        Assert.That(outcomes[0], Is.EqualTo(PublishOutcome.Confirmed));
        Assert.That(outcomes[^1], Is.EqualTo(PublishOutcome.Refused));
        await Eventually.HoldsAsync(async () => (await Transport.PublishAsync(Message("orders.accepted"), cancellationToken)).Outcome == PublishOutcome.Confirmed, cancellationToken);
    }

    [Test, CancelAfter(20_000)]
    [Property("Case", "AMQ-12")]
    public async Task A_topic_that_is_missing_makes_the_outcome_unknown_and_the_next_publish_works(CancellationToken cancellationToken)
    {
        var missing = await Transport.PublishAsync(Message("missing.thing"), cancellationToken);
        var results = new List<PublishResult>();
        for (var i = 0; i < 8; i++) results.Add(await Transport.PublishAsync(Message("orders.accepted"), cancellationToken));

        Assert.That(missing.Outcome, Is.EqualTo(PublishOutcome.Unknown));
        Assert.That(results.Select(result => result.Outcome), Is.All.EqualTo(PublishOutcome.Confirmed));
    }

    [Test, CancelAfter(20_000)]
    [Property("Case", "AMQ-12")]
    public async Task A_topic_that_somebody_deletes_is_declared_again(CancellationToken cancellationToken)
    {
        await Foreign.ExchangeDeleteAsync(Broker.Names.Topic("orders"), cancellationToken: cancellationToken);

        var unknown = await Transport.PublishAsync(Message("orders.accepted") with { Key = "k" }, cancellationToken);
        var again = await Transport.PublishAsync(Message("orders.accepted") with { Key = "k" }, cancellationToken);

        Assert.That((unknown.Outcome, again.Outcome), Is.EqualTo((PublishOutcome.Unknown, PublishOutcome.Confirmed)));
    }

    [Test, CancelAfter(60_000)]
    [Property("Case", "T-DEL-3")]
    public async Task A_thousand_messages_that_nobody_wants_are_kept_warned_about_once_and_delivered_later(CancellationToken cancellationToken)
    {
        var messages = Enumerable.Range(0, 1_000).Select(i => Message("orders.lost", $"{i}")).ToList();

        await Task.WhenAll(messages.Select(message => Transport.PublishAsync(message, cancellationToken).AsTask()));
        await Eventually.HoldsAsync(async () => (await Transport.Unroutable.SummarizeAsync(0, cancellationToken)).Count == 1_000, cancellationToken);
        var inbox = new Inbox();
        await SubscribeAsync(inbox, "orders.#");
        var wasEmpty = !inbox.TryNext(out _);
        var replay = await Transport.Unroutable.ReplayAsync(subject: null, limit: 10_000, cancellationToken);
        var delivered = await inbox.NextAsync(1_000, cancellationToken);

        Assert.That((wasEmpty, replay.Replayed, (await Transport.Unroutable.SummarizeAsync(0, cancellationToken)).Count), Is.EqualTo((true, 1_000, 0)));
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
            if (i == 100) await Foreign.QueueUnbindAsync(queue, topic, "orders.#", cancellationToken: cancellationToken);
            if (i == 200) await Foreign.QueueBindAsync(queue, topic, "orders.#", cancellationToken: cancellationToken);
            var message = Message("orders.accepted");
            Assert.That((await Transport.PublishAsync(message, cancellationToken)).Outcome, Is.EqualTo(PublishOutcome.Confirmed));
            published.Add(message.Id);
        }

        var kept = (await Transport.Unroutable.SummarizeAsync(1_000, cancellationToken)).Peeked;
        await Eventually.HoldsAsync(async () => (await Transport.Unroutable.SummarizeAsync(0, cancellationToken)).Count == kept, cancellationToken);
        var replay = await Transport.Unroutable.ReplayAsync("orders.accepted", limit: 1_000, cancellationToken);
        var delivered = await inbox.NextAsync(300, cancellationToken);

        Assert.That((kept, replay.Replayed), Is.EqualTo((100, 100)));
        Assert.That(delivered.Select(delivery => delivery.Message.Id), Is.EquivalentTo(published));
        Assert.That(inbox.TryNext(out _), Is.False);
    }

    [TestCase(DeliveryMode.Parallel, null)]
    [TestCase(DeliveryMode.Ordered, null)]
    [TestCase(DeliveryMode.OrderedByKey, 2)]
    [CancelAfter(40_000)]
    public async Task A_queue_that_somebody_unbinds_is_bound_again_and_told_of(DeliveryMode delivery, int? lanes, CancellationToken cancellationToken)
    {
        var inbox = new Inbox();
        var subscription = Subscription("orders.#") with { SingleActive = delivery == DeliveryMode.Ordered, Lanes = lanes, RetryDelays = [] };
        await SubscribeAsync(inbox.HandleAsync, subscription);
        await Eventually.HoldsAsync(() => Transport.Farm.Members.HearingFor > TimeSpan.Zero, cancellationToken);

        var (name, topic) = (Broker.Names.Endpoint(subscription.Endpoint), Broker.Names.Topic("orders"));
        await (lanes is null
            ? Foreign.QueueUnbindAsync(name, topic, "orders.#", cancellationToken: cancellationToken)
            : Foreign.ExchangeUnbindAsync(name, topic, "orders.#", cancellationToken: cancellationToken));
        var missed = Message("orders.missed") with { Key = "k" };
        await Transport.PublishAsync(missed, cancellationToken);
        await Eventually.HoldsAsync(() => Log.All.Any(line => line.Contains("orders.missed")), cancellationToken);
        await Eventually.HoldsAsync(
            async () =>
            {
                await Transport.PublishAsync(Message("orders.accepted") with { Key = "k" }, cancellationToken);
                return inbox.TryNext(out _);
            },
            cancellationToken);
        await Transport.Unroutable.ReplayAsync("orders.missed", limit: 10, cancellationToken);
        await Eventually.HoldsAsync(() => inbox.TryNext(out var delivered) && delivered!.Message.Id == missed.Id, cancellationToken);

        Assert.That(Log.All.Where(line => line.Contains("orders.missed")), Has.One.StartsWith("Warning").And.Contains($"although {subscription.Endpoint} subscribes"));
    }

    [Test, CancelAfter(20_000)]
    public async Task A_foreign_message_is_replayed_as_it_was_but_for_its_party(CancellationToken cancellationToken)
    {
        var sent = new BasicProperties { MessageId = "order 7", UserId = "guest", ContentType = "text/plain", Headers = new Dictionary<string, object?> { ["x-number"] = 42L } };
        await PublishForeignAsync("orders.lost", sent);
        var inbox = new Inbox();
        await SubscribeAsync(inbox, "orders.#");

        await Eventually.HoldsAsync(async () => (await Transport.Unroutable.ReplayAsync(subject: null, limit: 10, cancellationToken)).Replayed == 1, cancellationToken);
        var message = (await inbox.NextAsync(cancellationToken)).Message;

        Assert.That(
            (message.Headers[EsbHeaders.SourceId], message.ContentType, message.Headers["x-number"], message.Body.ReadText(), message.Party),
            Is.EqualTo(("order 7", "text/plain", "42", "foreign", (string?)null)));
    }

    [Test, CancelAfter(20_000)]
    public async Task What_nobody_wants_is_kept_and_warned_about_once(CancellationToken cancellationToken)
    {
        for (var i = 0; i < 5; i++) await Transport.PublishAsync(Message("orders.lost", $"{i}"), cancellationToken);
        await Eventually.HoldsAsync(() => Log.All.Any(line => line.Contains("orders.lost")), cancellationToken);

        for (var i = 0; i < 5; i++) Assert.That((await GetForeignAsync(Broker.Names.Unroutable, cancellationToken)).RoutingKey, Is.EqualTo("orders.lost"));
        Assert.That(Log.All.Count(line => line.Contains("orders.lost")), Is.EqualTo(1));
    }

    [Test, CancelAfter(20_000)]
    public async Task A_reason_of_a_megabyte_is_cut(CancellationToken cancellationToken)
    {
        await SubscribeAsync(
            new Inbox(delivery => new Settlement.Divert(new DeadLetter(delivery.Message, "e", "ESB-TEST", new string('ä', 1 << 20), null, 1, default, default))), "orders.#");

        await Transport.PublishAsync(Message("orders.accepted"), cancellationToken);
        var letter = await NextDeadLetterAsync(cancellationToken);

        Assert.That(letter.Reason, Is.EqualTo(new string('ä', DeadLetter.MaxReasonLength / 2)));
    }

    [Test, CancelAfter(20_000)]
    public async Task A_message_that_the_broker_moves_out_of_a_full_queue_becomes_a_dead_letter(CancellationToken cancellationToken)
    {
        var began = new TaskCompletionSource();
        var end = new TaskCompletionSource();
        var subscription = Subscription("orders.#") with { Prefetch = 1, Queue = new QueueConfig { MaxLength = 1, Overflow = QueueOverflow.DropHead } };
        await SubscribeAsync(
            async (_, _) =>
            {
                began.TrySetResult();
                await end.Task;
                return Settlement.Done;
            },
            subscription);
        await Transport.PublishAsync(Message("orders.first"), cancellationToken);
        await began.Task.WaitAsync(cancellationToken);

        for (var i = 0; i < 3; i++) await Transport.PublishAsync(Message("orders.dropped") with { Headers = MessageHeaders.Empty.With("x-a", "1") }, cancellationToken);
        var letter = await NextDeadLetterAsync(cancellationToken);
        end.SetResult();

        Assert.That((letter.Endpoint, letter.Code, letter.Message.Subject, letter.Message.Headers["x-a"]), Is.EqualTo((subscription.Endpoint, "ESB-BROKER-MOVED", "orders.dropped", "1")));
    }

    [Test, CancelAfter(20_000)]
    public async Task The_queue_of_an_endpoint_is_made_as_configured([Values] QueueType type, CancellationToken cancellationToken)
    {
        var inbox = new Inbox(delivery => delivery.Message.Attempt == 0 ? new Settlement.Later(TimeSpan.FromMilliseconds(1), 1) : Settlement.Done);
        var running = await SubscribeAsync(inbox.HandleAsync, Subscription("orders.#") with { Queue = new QueueConfig { Type = type } });

        await Transport.PublishAsync(Message("orders.accepted"), cancellationToken);

        Assert.That(running.IsLive, Is.True);
        Assert.That(await inbox.NextAsync(2, cancellationToken), Has.Count.EqualTo(2), "the next delay up is taken");
    }

    [Test, CancelAfter(60_000)]
    [Property("Case", "AMQ-17")]
    public async Task A_queue_that_exists_with_other_settings_stops_its_endpoint_only(CancellationToken cancellationToken)
    {
        var drifted = Subscription("orders.#");
        await Foreign.QueueDeclareAsync(Broker.Names.Endpoint(drifted.Endpoint), durable: true, exclusive: false, autoDelete: false, cancellationToken: cancellationToken);

        var stopped = await SubscribeAsync(new Inbox().HandleAsync, drifted);
        var inbox = new Inbox();
        await SubscribeAsync(inbox, "orders.#");
        await Transport.PublishAsync(Message("orders.accepted"), cancellationToken);
        await inbox.NextAsync(cancellationToken);
        var wasLive = stopped.IsLive;
        await Foreign.QueueDeleteAsync(Broker.Names.Endpoint(drifted.Endpoint), cancellationToken: cancellationToken);
        await Eventually.HoldsAsync(() => stopped.IsLive, cancellationToken);

        Assert.That(wasLive, Is.False);
        Assert.That(Log.All.Where(line => line.Contains("ESB-CFG-QUEUEDRIFT")), Has.Exactly(1).StartsWith("Error").And.Contains("esb plan"));
    }

    [Test, CancelAfter(30_000)]
    [Property("Case", "AMQ-13")]
    public async Task A_queue_that_is_deleted_under_its_consumer_comes_back([Values] bool inOrder, CancellationToken cancellationToken)
    {
        var inbox = new Inbox();
        var subscription = Subscription("orders.#") with { SingleActive = inOrder };
        var running = await SubscribeAsync(inbox.HandleAsync, subscription);

        await Foreign.QueueDeleteAsync(Broker.Names.Endpoint(subscription.Endpoint), cancellationToken: cancellationToken);
        await Eventually.HoldsAsync(() => !running.IsLive, cancellationToken);
        await Eventually.HoldsAsync(() => running.IsLive, cancellationToken);
        await Transport.PublishAsync(Message("orders.accepted"), cancellationToken);

        Assert.That((await inbox.NextAsync(cancellationToken)).Message.Subject, Is.EqualTo("orders.accepted"));
    }

    [Test, CancelAfter(30_000)]
    public async Task A_dead_letter_that_cannot_be_written_is_held_and_not_lost(CancellationToken cancellationToken)
    {
        await Foreign.QueueDeleteAsync(Broker.Names.DeadLetters, cancellationToken: cancellationToken);
        await SubscribeAsync(new Inbox(delivery => new Settlement.Divert(new DeadLetter(delivery.Message, "e", "ESB-TEST", "r", null, 1, default, default))), "orders.#");
        var message = Message("orders.accepted");

        await Transport.PublishAsync(message, cancellationToken);
        await Eventually.HoldsAsync(() => Log.All.Any(line => line.Contains("could not be moved")), cancellationToken);
        var arguments = new Dictionary<string, object?> { ["x-queue-type"] = "quorum", ["x-overflow"] = "reject-publish", ["x-delivery-limit"] = 1_000_000, ["x-single-active-consumer"] = true };
        await Foreign.QueueDeclareAsync(Broker.Names.DeadLetters, durable: true, exclusive: false, autoDelete: false, arguments, cancellationToken: cancellationToken);

        Assert.That((await NextDeadLetterAsync(cancellationToken)).Message.Id, Is.EqualTo(message.Id));
    }

    [TestCase(DeliveryMode.Parallel, null, DeliveryMode.Ordered, null, "delivery is parallel there, ordered here")]
    [TestCase(DeliveryMode.Parallel, null, DeliveryMode.OrderedByKey, 4, "delivery is parallel there, ordered-by-key here; lanes is none there, 4 here")]
    [TestCase(DeliveryMode.OrderedByKey, 4, DeliveryMode.OrderedByKey, 8, "lanes is 4 there, 8 here")]
    [TestCase(DeliveryMode.OrderedByKey, 4, DeliveryMode.Ordered, null, "delivery is ordered-by-key there, ordered here; lanes is 4 there, none here")]
    [CancelAfter(30_000)]
    [Property("Case", "CFG-34")]
    public async Task Another_order_of_an_existing_queue_is_a_drift_that_says_what_differs(
        DeliveryMode before, int? lanesBefore, DeliveryMode after, int? lanesAfter, string differences, CancellationToken cancellationToken)
    {
        var existing = Subscription("orders.#") with { SingleActive = before == DeliveryMode.Ordered, Lanes = lanesBefore, RetryDelays = [] };
        await (await SubscribeAsync(new Inbox().HandleAsync, existing)).DisposeAsync();

        var drifted = await SubscribeAsync(new Inbox().HandleAsync, existing with { SingleActive = after == DeliveryMode.Ordered, Lanes = lanesAfter });

        Assert.That(drifted.IsLive, Is.False);
        Assert.That(drifted.Reason, Does.StartWith("ESB-CFG-QUEUEDRIFT").And.Contains(differences).And.Contains("esb plan"));
    }

    [Test, CancelAfter(30_000)]
    public async Task An_older_configuration_that_starts_again_takes_no_pattern_from_the_newer_one(CancellationToken cancellationToken)
    {
        var inbox = new Inbox();
        var old = Subscription("orders.accepted");
        var other = Subscription("orders.refused") with { Endpoint = old.Endpoint };
        await (await SubscribeAsync(new Inbox().HandleAsync, old)).DisposeAsync();
        await (await SubscribeAsync(new Inbox().HandleAsync, other)).DisposeAsync(); // rolled out, and away for a moment

        await SubscribeAsync(inbox.HandleAsync, old);
        await Eventually.HoldsAsync(() => Transport.Farm.Members.HearingFor > TimeSpan.FromSeconds(8), cancellationToken);
        await Transport.PublishAsync(Message("orders.refused"), cancellationToken);

        Assert.That((await inbox.NextAsync(cancellationToken)).Message.Subject, Is.EqualTo("orders.refused"));
    }
}
