using Esb.Core.Endpoints;
using Esb.Core.Topics;
using RabbitMQ.Client;

namespace Esb.IntegrationTests.Topics.Broker;

/// <summary>What the transport makes of queues, exchanges and the broker's answers.</summary>
[TestFixture]
public sealed class BrokerTopologyTests : BrokerFixture
{
    [Test, CancelAfter(60_000)]
    public async Task A_subscription_whose_start_was_cancelled_does_not_consume(CancellationToken cancellationToken)
    {
        var subscription = Subscription("orders.#");
        Broker.Note(subscription);
        var (cancelled, inbox) = (new Inbox(), new Inbox());

        Assert.CatchAsync<OperationCanceledException>(() =>
            Transport.SubscribeAsync(subscription, cancelled.HandleAsync, new CancellationToken(canceled: true))
        );
        await SubscribeAsync(inbox.HandleAsync, subscription);
        for (var i = 0; i < 20; i++)
            await Transport.PublishAsync(Message("orders.accepted", $"{i}"), cancellationToken);

        Assert.That(await inbox.NextAsync(20, cancellationToken), Has.Count.EqualTo(20));
        Assert.That(cancelled.TryNext(out _), Is.False);
    }

    [Test, CancelAfter(60_000)]
    public async Task A_full_queue_refuses(CancellationToken cancellationToken)
    {
        var end = new TaskCompletionSource();
        await SubscribeAsync(
            async (_, _) =>
            {
                await end.Task;
                return Settlement.Done;
            },
            Subscription("orders.#") with
            {
                Prefetch = 1,
                Queue = new QueueConfig { MaxLength = 1 },
            }
        );
        var outcomes = new List<PublishOutcome>();

        while (!outcomes.Contains(PublishOutcome.Refused) && outcomes.Count < 50)
            outcomes.Add((await Transport.PublishAsync(Message("orders.accepted"), cancellationToken)).Outcome);
        end.SetResult();

        Assert.That(outcomes[0], Is.EqualTo(PublishOutcome.Confirmed));
        Assert.That(outcomes[^1], Is.EqualTo(PublishOutcome.Refused));
        await Eventually.HoldsAsync(
            async () => (await Transport.PublishAsync(Message("orders.accepted"), cancellationToken)).Outcome == PublishOutcome.Confirmed,
            cancellationToken
        );
    }

    [Test, CancelAfter(60_000)]
    [Property("Case", "AMQ-12")]
    public async Task A_topic_that_is_missing_makes_the_outcome_unknown_and_the_next_publish_works(CancellationToken cancellationToken)
    {
        var missing = await Transport.PublishAsync(Message("missing.thing"), cancellationToken);
        var results = new List<PublishResult>();
        for (var i = 0; i < 8; i++)
            results.Add(await Transport.PublishAsync(Message("orders.accepted"), cancellationToken));

        Assert.That(missing.Outcome, Is.EqualTo(PublishOutcome.Unknown));
        Assert.That(results.Select(result => result.Outcome), Is.All.EqualTo(PublishOutcome.Confirmed));
    }

    [Test, CancelAfter(60_000)]
    [Property("Case", "AMQ-12")]
    public async Task A_topic_that_somebody_deletes_is_declared_again(CancellationToken cancellationToken)
    {
        await Foreign.ExchangeDeleteAsync(Broker.Names.Topic("orders"), cancellationToken: cancellationToken);

        var unknown = await Transport.PublishAsync(Message("orders.accepted") with { Key = "k" }, cancellationToken);
        var again = await Transport.PublishAsync(Message("orders.accepted") with { Key = "k" }, cancellationToken);

        Assert.That((unknown.Outcome, again.Outcome), Is.EqualTo((PublishOutcome.Unknown, PublishOutcome.Confirmed)));
    }

    [Test, CancelAfter(60_000)]
    public async Task The_queue_of_an_endpoint_is_made_as_configured([Values] QueueType type, CancellationToken cancellationToken)
    {
        var inbox = new Inbox(delivery =>
            delivery.Message.Attempt == 0 ? new Settlement.Later(TimeSpan.FromMilliseconds(1), 1) : Settlement.Done
        );
        var running = await SubscribeAsync(inbox.HandleAsync, Subscription("orders.#") with { Queue = new QueueConfig { Type = type } });

        await Transport.PublishAsync(Message("orders.accepted"), cancellationToken);

        Assert.That(running.IsLive, Is.True);
        Assert.That(await inbox.NextAsync(2, cancellationToken), Has.Count.EqualTo(2), "the next delay up is taken");
    }

    [Test, Category("Thorough"), CancelAfter(60_000)]
    [Property("Case", "AMQ-17")]
    public async Task A_queue_that_exists_with_other_settings_stops_its_endpoint_only(CancellationToken cancellationToken)
    {
        var drifted = Subscription("orders.#");
        await Foreign.QueueDeclareAsync(
            Broker.Names.Endpoint(drifted.Endpoint),
            durable: true,
            exclusive: false,
            autoDelete: false,
            cancellationToken: cancellationToken
        );

        var stopped = await SubscribeAsync(new Inbox().HandleAsync, drifted);
        var inbox = new Inbox();
        await SubscribeAsync(inbox, "orders.#");
        await Transport.PublishAsync(Message("orders.accepted"), cancellationToken);
        await inbox.NextAsync(cancellationToken);
        var wasLive = stopped.IsLive;
        await Foreign.QueueDeleteAsync(Broker.Names.Endpoint(drifted.Endpoint), cancellationToken: cancellationToken);
        await Eventually.HoldsAsync(() => stopped.IsLive, cancellationToken);

        Assert.That(wasLive, Is.False);
        Assert.That(
            Log.All.Where(line => line.Contains("ESB-CFG-QUEUEDRIFT")),
            Has.Exactly(1).StartsWith("Error").And.Contains("esb plan")
        );
    }

    [Test, CancelAfter(60_000)]
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

    [Test, Category("Thorough"), CancelAfter(15_000)]
    public async Task A_message_waits_for_its_next_attempt_although_somebody_deletes_the_queue_of_the_delay(
        CancellationToken cancellationToken
    )
    {
        var inbox = new Inbox(delivery =>
            delivery.Message.Attempt == 0 ? new Settlement.Later(TimeSpan.FromMilliseconds(1), 1) : Settlement.Done
        );
        var subscription = Subscription("orders.#");
        await SubscribeAsync(inbox.HandleAsync, subscription);

        await Foreign.QueueDeleteAsync(
            Broker.Names.Rung(subscription.Endpoint, subscription.RetryDelays[0]),
            cancellationToken: cancellationToken
        );
        await Transport.PublishAsync(Message("orders.accepted"), cancellationToken);

        Assert.That((await inbox.NextAsync(2, cancellationToken))[1].Message.Attempt, Is.EqualTo(1));
    }

    [TestCase(DeliveryMode.Parallel, null, DeliveryMode.Ordered, null, "delivery is parallel there, ordered here")]
    [TestCase(
        DeliveryMode.Parallel,
        null,
        DeliveryMode.OrderedByKey,
        4,
        "delivery is parallel there, ordered-by-key here; lanes is none there, 4 here"
    )]
    [TestCase(DeliveryMode.OrderedByKey, 4, DeliveryMode.OrderedByKey, 8, "lanes is 4 there, 8 here")]
    [TestCase(
        DeliveryMode.OrderedByKey,
        4,
        DeliveryMode.Ordered,
        null,
        "delivery is ordered-by-key there, ordered here; lanes is 4 there, none here"
    )]
    [CancelAfter(60_000)]
    [Property("Case", "CFG-34")]
    public async Task Another_order_of_an_existing_queue_is_a_drift_that_says_what_differs(
        DeliveryMode before,
        int? lanesBefore,
        DeliveryMode after,
        int? lanesAfter,
        string differences,
        CancellationToken cancellationToken
    )
    {
        var existing = Subscription("orders.#") with
        {
            SingleActive = before == DeliveryMode.Ordered,
            Lanes = lanesBefore,
            RetryDelays = [],
        };
        await (await SubscribeAsync(new Inbox().HandleAsync, existing)).DisposeAsync();

        var drifted = await SubscribeAsync(
            new Inbox().HandleAsync,
            existing with
            {
                SingleActive = after == DeliveryMode.Ordered,
                Lanes = lanesAfter,
            }
        );

        Assert.That(drifted.IsLive, Is.False);
        Assert.That(drifted.Reason, Does.StartWith("ESB-CFG-QUEUEDRIFT").And.Contains(differences).And.Contains("esb plan"));
    }

    [Test, Category("Thorough"), CancelAfter(60_000)]
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
