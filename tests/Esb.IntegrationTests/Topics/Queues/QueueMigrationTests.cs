using System.Collections.Concurrent;
using Esb.Core.Errors;
using Esb.Core.Planning;
using Esb.Core.Topics;
using Esb.Topics.RabbitMq;
using Esb.Topics.RabbitMq.Connections;
using Esb.Topics.RabbitMq.Farm;
using Esb.Topics.RabbitMq.Planning;
using Esb.Topics.RabbitMq.Wire;
using RabbitMQ.Client;
using RabbitMQ.Client.Events;

namespace Esb.IntegrationTests.Topics.Queues;

/// <summary>What a plan says of queues, and a migration from one kind of delivery to another.</summary>
[TestFixture]
public sealed class QueueMigrationTests : BrokerFixture
{
    private BrokerSession _session = null!;

    [SetUp]
    public async Task OpenSession() =>
        _session = await BrokerSession.OpenAsync(
            new RabbitMqTransportConfig { Url = Servers.RabbitMq, Prefix = Broker.Prefix },
            TestBroker.Configuration,
            [.. Topics.Keys],
            TimeProvider.System,
            CancellationToken.None
        );

    [TearDown]
    public async Task CloseSession() => await _session.DisposeAsync();

    [Test, CancelAfter(60_000)]
    public async Task A_plan_tells_what_would_be_made_and_what_stays(CancellationToken cancellationToken)
    {
        var subscription = Subscription("orders.#") with { Lanes = 2, RetryDelays = [] };

        var before = await PlanAsync(subscription, cancellationToken);
        await (await SubscribeAsync(new Inbox().HandleAsync, subscription)).DisposeAsync();
        await Transport.PublishAsync(Message("orders.accepted"), cancellationToken);
        var after = await PlanAsync(subscription, cancellationToken);
        var more = await PlanAsync(subscription with { Patterns = [SubjectPattern.Parse("prices.#")!] }, cancellationToken);

        Assert.That(
            before.Select(change => (change.Kind, change.Detail)),
            Is.All.EqualTo((ChangeKind.Create, "quorum, single active consumer"))
        );
        Assert.That(
            before.Select(change => change.Object),
            Is.EqualTo(Broker.Names.LanesOf(subscription).Select(queue => $"queue {queue}"))
        );
        Assert.That(after.Select(change => change.Kind), Is.All.EqualTo(ChangeKind.Keep));
        Assert.That(after.Count(change => change.Detail == "1 messages wait, 0 consumers"), Is.EqualTo(1));
        Assert.That(
            more.TakeLast(2).Select(change => (change.Kind, change.Detail)),
            Is.EqualTo(new[] { (ChangeKind.Create, "prices.#"), (ChangeKind.Change, "orders.# ends when no host wants it") })
        );
    }

    [TestCase(false, null, true, null)]
    [TestCase(false, null, false, 4, Category = "Faults,WaitsLong")]
    [TestCase(true, null, false, 4, Category = "Thorough")]
    [TestCase(false, 4, false, 8, Category = "Faults,WaitsLong")]
    [TestCase(false, 4, false, null, Category = "Thorough")]
    [CancelAfter(60_000)]
    public async Task A_migration_brings_everything_over_in_its_order(
        bool wasOrdered,
        int? lanesBefore,
        bool isOrdered,
        int? lanesAfter,
        CancellationToken cancellationToken
    )
    {
        var before = Subscription("orders.#") with { SingleActive = wasOrdered, Lanes = lanesBefore };
        var after = before with { SingleActive = isOrdered, Lanes = lanesAfter };
        Broker.Note(after);
        await (await SubscribeAsync(new Inbox().HandleAsync, before)).DisposeAsync();
        for (var i = 0; i < 60; i++)
            await Transport.PublishAsync(Message("orders.accepted", $"{i}") with { Key = $"key-{i % 6}" }, cancellationToken);

        var planned = await PlanAsync(after, cancellationToken);
        var told = new ConcurrentQueue<string>();
        await new QueueMigration(_session, after, new NoUsers(), told.Enqueue, TimeProvider.System).RunAsync(cancellationToken);
        var inbox = new Inbox();
        await SubscribeAsync(inbox.HandleAsync, after);
        for (var i = 60; i < 72; i++)
            await Transport.PublishAsync(Message("orders.accepted", $"{i}") with { Key = $"key-{i % 6}" }, cancellationToken);
        var deliveries = await inbox.NextAsync(72, cancellationToken);

        Assert.That(planned.Single().Kind, Is.EqualTo(ChangeKind.Migrate));
        Assert.That(planned.Single().Detail, Does.EndWith("60 messages wait"));
        Assert.That(told, Has.Some.Contains("60 messages set aside"));
        Assert.That(
            deliveries.Select(delivery => (delivery.Message.Subject, delivery.Kind)),
            Is.All.EqualTo(("orders.accepted", DeliveryKind.Published))
        );
        Assert.That(
            deliveries.Select(delivery => int.Parse(delivery.Message.Body.ReadText())).Order(),
            Is.EqualTo(Enumerable.Range(0, 72))
        );
        foreach (var key in deliveries.GroupBy(delivery => delivery.Message.Key))
            Assert.That(key.Select(delivery => int.Parse(delivery.Message.Body.ReadText())), Is.Ordered, key.Key);
        Assert.That(inbox.TryNext(out _), Is.False);
    }

    // Each: type, maxLength, overflow, lanes; before and after. What plan names is what differs.
    [TestCase("quorum - reject-publish -", "classic - reject-publish -", "queue.type is quorum there, classic here", Category = "Thorough")]
    [TestCase(
        "classic - reject-publish -",
        "quorum - reject-publish -",
        "queue.type is classic there, quorum here",
        Category = "Faults,WaitsLong"
    )]
    [TestCase("classic - reject-publish 4", "quorum - reject-publish 4", "queue.type is classic there, quorum here", Category = "Thorough")]
    [TestCase(
        "quorum - reject-publish -",
        "quorum 100 reject-publish -",
        "queue.maxLength is none there, 100 here",
        Category = "Faults,WaitsLong"
    )]
    [TestCase(
        "quorum 100 reject-publish -",
        "quorum 200 reject-publish -",
        "queue.maxLength is 100 there, 200 here",
        Category = "Thorough"
    )]
    [TestCase(
        "classic 100 reject-publish -",
        "classic - reject-publish -",
        "queue.maxLength is 100 there, none here",
        Category = "Faults,WaitsLong"
    )]
    [TestCase(
        "quorum 100 reject-publish -",
        "quorum 100 drop-head -",
        "queue.overflow is reject-publish there, drop-head here",
        Category = "Thorough"
    )]
    [TestCase(
        "quorum 100 drop-head 4",
        "classic - reject-publish 8",
        "lanes is 4 there, 8 here; queue.type is quorum there, classic here; queue.maxLength is 100 there, none here; "
            + "queue.overflow is drop-head there, reject-publish here"
    )]
    [CancelAfter(60_000)]
    public async Task A_migration_changes_the_arguments_of_queues_and_keeps_what_waits(
        string before,
        string after,
        string differences,
        CancellationToken cancellationToken
    )
    {
        var old = Shaped(before, Subscription("orders.#"));
        var wanted = Shaped(after, old);
        Broker.Note(wanted);
        await (await SubscribeAsync(new Inbox().HandleAsync, old)).DisposeAsync();
        for (var i = 0; i < 30; i++)
            await Transport.PublishAsync(Message("orders.accepted", $"{i}") with { Key = $"key-{i % 3}" }, cancellationToken);

        var planned = await PlanAsync(wanted, cancellationToken);
        var drifted = await SubscribeAsync(new Inbox().HandleAsync, wanted);
        var reason = drifted.Reason;
        await drifted.DisposeAsync();
        await new QueueMigration(_session, wanted, new NoUsers(), TestContext.Out.WriteLine, TimeProvider.System).RunAsync(
            cancellationToken
        );
        var afterwards = await PlanAsync(wanted, cancellationToken);
        var inbox = new Inbox();
        await SubscribeAsync(inbox.HandleAsync, wanted);
        await Transport.PublishAsync(Message("orders.accepted", "30") with { Key = "key-0" }, cancellationToken);
        var deliveries = await inbox.NextAsync(31, cancellationToken);

        Assert.That(
            planned.Select(change => (change.Kind, change.Detail)),
            Is.EqualTo(new[] { (ChangeKind.Migrate, $"{differences}; 30 messages wait") })
        );
        Assert.That(reason, Does.StartWith("ESB-CFG-QUEUEDRIFT").And.Contains(differences));
        Assert.That(afterwards.Select(change => change.Kind), Is.All.EqualTo(ChangeKind.Keep), "the broker takes them for what is wanted");
        Assert.That(deliveries.Select(NumberOf).Order(), Is.EqualTo(Enumerable.Range(0, 31)));
        foreach (var key in deliveries.GroupBy(delivery => delivery.Message.Key))
            Assert.That(key.Select(NumberOf), Is.Ordered, key.Key);
        Assert.That(inbox.TryNext(out _), Is.False);
    }

    [TestCase("quorum 20 reject-publish -"), TestCase("quorum 20 drop-head -"), CancelAfter(60_000)]
    public async Task A_queue_that_would_not_keep_what_waits_is_refused_and_nothing_is_touched(
        string after,
        CancellationToken cancellationToken
    )
    {
        var old = Shaped("quorum - reject-publish -", Subscription("orders.#"));
        var wanted = Shaped(after, old);
        await (await SubscribeAsync(new Inbox().HandleAsync, old)).DisposeAsync();
        for (var i = 0; i < 30; i++)
            await Transport.PublishAsync(Message("orders.accepted", $"{i}"), cancellationToken);
        await Eventually.HoldsAsync(
            async () => (await PlanAsync(wanted, cancellationToken)).Single().Detail.EndsWith("30 messages wait", StringComparison.Ordinal),
            cancellationToken
        );

        var failure = Assert.ThrowsAsync<EsbException>(() =>
            new QueueMigration(_session, wanted, new NoUsers(), _ => { }, TimeProvider.System).RunAsync(cancellationToken)
        );
        var inbox = new Inbox();
        await SubscribeAsync(inbox.HandleAsync, old);

        Assert.That(failure!.Code, Is.EqualTo("ESB-PLAN-LENGTH"));
        Assert.That(failure.Message, Does.Contain("30 messages wait").And.Contain("queue.maxLength is 20"));
        Assert.That((await inbox.NextAsync(30, cancellationToken)).Select(NumberOf), Is.EqualTo(Enumerable.Range(0, 30)));
    }

    [Test, Category("Thorough"), CancelAfter(60_000)]
    public async Task A_migration_that_was_stopped_goes_on_and_nobody_consumes_meanwhile(CancellationToken cancellationToken)
    {
        var before = Subscription("orders.#");
        var after = before with { Lanes = 4 };
        Broker.Note(after);
        await (await SubscribeAsync(new Inbox().HandleAsync, before)).DisposeAsync();
        for (var i = 0; i < 40; i++)
            await Transport.PublishAsync(Message("orders.accepted", $"{i}") with { Key = "one" }, cancellationToken);

        using var stopping = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        var stopped = new QueueMigration(_session, after, new NoUsers(), _ => stopping.Cancel(), TimeProvider.System).RunAsync(
            stopping.Token
        );
        Assert.CatchAsync<OperationCanceledException>(() => stopped);
        for (var i = 40; i < 50; i++)
            await Transport.PublishAsync(Message("orders.accepted", $"{i}") with { Key = "one" }, cancellationToken);
        var early = await SubscribeAsync(new Inbox().HandleAsync, after);
        var reason = early.Reason;
        await early.DisposeAsync();
        var planned = await PlanAsync(after, cancellationToken);
        await new QueueMigration(_session, after, new NoUsers(), TestContext.Out.WriteLine, TimeProvider.System).RunAsync(
            cancellationToken
        );
        var inbox = new Inbox();
        await SubscribeAsync(inbox.HandleAsync, after);
        var deliveries = await inbox.NextAsync(50, cancellationToken);

        Assert.That(reason, Does.StartWith("ESB-CFG-QUEUEDRIFT").And.Contains("not finished"));
        Assert.That(planned.Single().Kind, Is.EqualTo(ChangeKind.Migrate));
        Assert.That(
            deliveries.Select(delivery => delivery.Message.Body.ReadText()),
            Is.EqualTo(Enumerable.Range(0, 50).Select(i => $"{i}"))
        );
    }

    [Test, Category("Thorough"), CancelAfter(60_000)]
    public async Task A_migration_deletes_nothing_that_another_one_has_in_hand(CancellationToken cancellationToken)
    {
        var before = Subscription("orders.#");
        var after = before with { Lanes = 4 };
        Broker.Note(after);
        await (await SubscribeAsync(new Inbox().HandleAsync, before)).DisposeAsync();
        for (var i = 0; i < 5; i++)
            await Transport.PublishAsync(Message("orders.accepted", $"{i}") with { Key = "one" }, cancellationToken);
        using var stopping = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        Assert.CatchAsync<OperationCanceledException>(() =>
            new QueueMigration(_session, after, new NoUsers(), _ => stopping.Cancel(), TimeProvider.System).RunAsync(stopping.Token)
        );

        // The other one, which stands still.
        var held = 0;
        var connection = await Broker.ConnectAsync();
        var other = await connection.CreateChannelAsync(cancellationToken: cancellationToken);
        var consumer = new AsyncEventingBasicConsumer(other);
        consumer.ReceivedAsync += (_, _) =>
        {
            Interlocked.Increment(ref held);
            return Task.CompletedTask;
        };
        await other.BasicConsumeAsync(Broker.Names.Of(before.Endpoint).Backlog, autoAck: false, consumer, cancellationToken);
        await Eventually.HoldsAsync(() => Volatile.Read(ref held) == 5, cancellationToken);

        var busy = Assert.ThrowsAsync<EsbException>(() =>
            new QueueMigration(_session, after, new NoUsers(), TestContext.Out.WriteLine, TimeProvider.System).RunAsync(cancellationToken)
        );
        await connection.DisposeAsync();
        await new QueueMigration(_session, after, new NoUsers(), TestContext.Out.WriteLine, TimeProvider.System).RunAsync(
            cancellationToken
        );
        var inbox = new Inbox();
        await SubscribeAsync(inbox.HandleAsync, after);

        Assert.That(busy!.Code, Is.EqualTo("ESB-PLAN-BUSY"));
        Assert.That(
            (await inbox.NextAsync(5, cancellationToken)).Select(delivery => delivery.Message.Body.ReadText()),
            Is.EqualTo(new[] { "0", "1", "2", "3", "4" })
        );
    }

    [Test, CancelAfter(60_000)]
    public async Task Messages_of_strangers_with_one_id_are_all_brought_over(CancellationToken cancellationToken)
    {
        var before = Subscription("orders.#");
        var after = before with { SingleActive = true };
        Broker.Note(after);
        await (await SubscribeAsync(new Inbox().HandleAsync, before)).DisposeAsync();
        foreach (var (subject, body) in new[] { ("orders.created", "a"), ("orders.paid", "b"), ("orders.paid", "c") })
            await PublishForeignAsync(subject, new BasicProperties { MessageId = "4711", DeliveryMode = DeliveryModes.Persistent }, body);

        await new QueueMigration(_session, after, new NoUsers(), TestContext.Out.WriteLine, TimeProvider.System).RunAsync(
            cancellationToken
        );
        var inbox = new Inbox();
        await SubscribeAsync(inbox.HandleAsync, after);

        Assert.That(
            (await inbox.NextAsync(3, cancellationToken)).Select(delivery => (delivery.Message.Subject, delivery.Message.Body.ReadText())),
            Is.EqualTo(new[] { ("orders.created", "a"), ("orders.paid", "b"), ("orders.paid", "c") })
        );
    }

    [Test, CancelAfter(60_000)]
    public async Task What_hosts_consume_is_not_migrated(CancellationToken cancellationToken)
    {
        var subscription = Subscription("orders.#");
        await SubscribeAsync(new Inbox().HandleAsync, subscription);

        var failure = Assert.ThrowsAsync<EsbException>(() =>
            new QueueMigration(_session, subscription with { SingleActive = true }, new NoUsers(), _ => { }, TimeProvider.System).RunAsync(
                cancellationToken
            )
        );

        Assert.That(failure!.Code, Is.EqualTo("ESB-PLAN-BUSY"));
    }

    [Test, Category("Thorough"), CancelAfter(60_000)]
    public async Task A_host_that_does_not_answer_is_named_and_nothing_is_touched(CancellationToken cancellationToken)
    {
        var subscription = Subscription("orders.#");
        await SubscribeAsync(new Inbox().HandleAsync, subscription);
        await using var visit = await FarmVisit.BeginAsync(
            _session.Address,
            Broker.Names.Farm,
            TestBroker.FarmKeys,
            TimeProvider.System,
            cancellationToken
        );
        var users = new FarmQueueUsers(visit, subscription.Endpoint, _ => { })
        {
            LetGoPatience = TimeSpan.FromSeconds(1),
            GoOnPatience = TimeSpan.FromSeconds(1),
        };
        var migration = new QueueMigration(_session, subscription with { SingleActive = true }, users, _ => { }, TimeProvider.System);

        // a transport alone has nobody who could let go
        var failure = Assert.ThrowsAsync<EsbException>(() => migration.RunAsync(cancellationToken));
        await Transport.PublishAsync(Message("orders.accepted"), cancellationToken);

        Assert.That(failure!.Code, Is.EqualTo("ESB-PLAN-BUSY"));
        Assert.That(failure.Message, Does.Contain(Transport.Farm.Self.Name).And.Contain("did not answer"));
        Assert.That(
            (await PlanAsync(subscription, cancellationToken)).Select(change => change.Kind),
            Has.None.EqualTo(ChangeKind.Migrate),
            "no migration has begun"
        );
    }

    [Test, Category("Thorough"), CancelAfter(60_000)]
    public async Task Publishes_wait_while_they_are_held_back_and_go_on(CancellationToken cancellationToken)
    {
        var inbox = new Inbox();
        await SubscribeAsync(inbox.HandleAsync, Subscription("orders.#"));
        await using var visit = await FarmVisit.BeginAsync(
            _session.Address,
            Broker.Names.Farm,
            TestBroker.FarmKeys,
            TimeProvider.System,
            cancellationToken
        );
        var users = new FarmQueueUsers(visit, "out", _ => { });

        var hold = await users.HoldPublishesAsync([Broker.Names.Topic("orders")], cancellationToken);
        var held = Transport.PublishAsync(Message("orders.accepted"), cancellationToken).AsTask();
        var other = await Transport.PublishAsync(Message("prices.new"), cancellationToken);
        var wasHeld = !held.IsCompleted;
        await hold.DisposeAsync();

        Assert.That(other.Outcome, Is.EqualTo(PublishOutcome.Confirmed));
        Assert.That(wasHeld, Is.True);
        Assert.That((await held).Outcome, Is.EqualTo(PublishOutcome.Confirmed));
        Assert.That(await inbox.NextAsync(1, cancellationToken), Has.Count.EqualTo(1));
    }

    private static Subscription Shaped(string shape, Subscription subscription)
    {
        var parts = shape.Split(' ');
        return subscription with
        {
            Lanes = Number(parts[3]),
            RetryDelays = [],
            Queue = new QueueConfig
            {
                Type = parts[0] == "classic" ? QueueType.Classic : QueueType.Quorum,
                MaxLength = Number(parts[1]),
                Overflow = parts[2] == "drop-head" ? QueueOverflow.DropHead : QueueOverflow.RejectPublish,
            },
        };

        static int? Number(string text) => text == "-" ? null : int.Parse(text, System.Globalization.CultureInfo.InvariantCulture);
    }

    private static int NumberOf(TopicDelivery delivery) =>
        int.Parse(delivery.Message.Body.ReadText(), System.Globalization.CultureInfo.InvariantCulture);

    private Task<IReadOnlyList<PlannedChange>> PlanAsync(Subscription subscription, CancellationToken cancellationToken) =>
        new EndpointPlan(_session, subscription).CompareAsync(cancellationToken);
}
