using System.Collections.Concurrent;
using System.Text;
using Esb.Core.Errors;
using Esb.Core.Planning;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Topics.RabbitMq;
using Esb.Topics.RabbitMq.Farm;
using Esb.Topics.RabbitMq.Planning;
using Esb.Topics.RabbitMq.Topology;
using Microsoft.Extensions.Logging.Abstractions;
using RabbitMQ.Client;

namespace Esb.IntegrationTests.Topics.Queues;

/// <summary>Topics are shared by all configurations of a broker, queues belong to one; also those of release 0.1, whose names do not say to
/// whom.</summary>
[TestFixture, CancelAfter(60_000)]
public sealed class QueueOwnerTests : BrokerFixture
{
    private readonly List<Subscription> _old = [];
    private RabbitMqTransport _other = null!;

    [SetUp]
    public async Task StartOther()
    {
        _other = Broker.CreateTransport(Topics, loggers: Log.Factory, configuration: "other");
        await _other.StartAsync(CancellationToken.None);
    }

    [TearDown]
    public async Task StopOther()
    {
        await _other.DisposeAsync();
        await using var connection = await Broker.ConnectAsync();
        await using var channel = await connection.CreateChannelAsync();
        foreach (var subscription in _old)
            await OldQueues.DeleteAsync(channel, Broker.Prefix, subscription);
        _old.Clear();
        await channel.QueueDeleteAsync(Broker.Names.DeadLettersOf("other"));
    }

    [Test]
    public async Task Two_configurations_with_an_endpoint_of_one_name_get_every_message_each(
        [Values(null, 4)] int? lanes,
        CancellationToken cancellationToken
    )
    {
        var subscription = Subscription("orders.#") with { Lanes = lanes, RetryDelays = [] };
        var (ours, others) = (new Inbox(), new Inbox());
        await SubscribeAsync(ours.HandleAsync, subscription);
        await using var running = await _other.SubscribeAsync(subscription, others.HandleAsync, cancellationToken);

        for (var i = 0; i < 20; i++)
            await Transport.PublishAsync(Message("orders.accepted", $"{i}") with { Key = $"{i % 3}" }, cancellationToken);
        var (got, othersGot) = (await ours.NextAsync(20, cancellationToken), await others.NextAsync(20, cancellationToken));

        Assert.That(got.Select(NumberOf).Order(), Is.EqualTo(Enumerable.Range(0, 20)));
        Assert.That(othersGot.Select(NumberOf).Order(), Is.EqualTo(Enumerable.Range(0, 20)));
        Assert.That((ours.TryNext(out _), others.TryNext(out _)), Is.EqualTo((false, false)));
    }

    [Test]
    public async Task Dead_letters_go_to_the_store_of_the_configuration_that_gave_up(CancellationToken cancellationToken)
    {
        var subscription = Subscription("orders.#");
        var (ours, others) = (new ConcurrentQueue<DeadLetter>(), new ConcurrentQueue<DeadLetter>());
        await using var reading = await ReadAsync(Transport, ours);
        await using var otherReading = await ReadAsync(_other, others);
        await SubscribeAsync(new Inbox(delivery => new Settlement.Divert(Letter(delivery, "ours"))).HandleAsync, subscription);
        await using var running = await _other.SubscribeAsync(
            subscription,
            new Inbox(delivery => new Settlement.Divert(Letter(delivery, "others"))).HandleAsync,
            cancellationToken
        );

        for (var i = 0; i < 5; i++)
            await Transport.PublishAsync(Message("orders.accepted"), cancellationToken);
        await Eventually.HoldsAsync(() => ours.Count == 5 && others.Count == 5, cancellationToken);

        Assert.That(ours.Select(letter => letter.Code), Is.All.EqualTo("ours"));
        Assert.That(others.Select(letter => letter.Code), Is.All.EqualTo("others"));
    }

    [Test]
    public async Task Queues_of_release_0_1_are_gone_on_with_and_belong_to_who_came_first(
        [Values(null, 4)] int? lanes,
        CancellationToken cancellationToken
    )
    {
        var subscription = await MakeOldAsync(
            Subscription("orders.#") with
            {
                Lanes = lanes,
                RetryDelays = lanes is null ? [TimeSpan.FromMilliseconds(200)] : [],
            }
        );
        await Transport.PublishAsync(Message("orders.accepted", "0") with { Key = "k" }, cancellationToken);
        var later = lanes is null ? 1 : 0;
        var inbox = new Inbox(delivery =>
            delivery.Message.Attempt < later ? new Settlement.Later(TimeSpan.FromMilliseconds(200), 1) : Settlement.Done
        );
        var running = await SubscribeAsync(inbox.HandleAsync, subscription);
        await using var refused = await _other.SubscribeAsync(subscription, new Inbox().HandleAsync, cancellationToken);
        var others = await _other.SendAsync(
            subscription.Endpoint,
            Message("orders.accepted", "stolen"),
            DeliveryKind.Release,
            cancellationToken
        );

        await Transport.PublishAsync(Message("orders.accepted", "1") with { Key = "k" }, cancellationToken);
        await Transport.SendAsync(
            subscription.Endpoint,
            Message("orders.accepted", "2") with
            {
                Key = "k",
                Attempt = 5,
            },
            DeliveryKind.Release,
            cancellationToken
        );
        var deliveries = await inbox.NextAsync(lanes is null ? 5 : 3, cancellationToken);
        await using var watch = await Broker.ConnectAsync();

        Assert.That((running.IsLive, refused.IsLive), Is.EqualTo((true, false)));
        Assert.That(
            refused.Reason,
            Does.StartWith("ESB-CFG-QUEUEOWNER").And.Contain($"belongs to the configuration '{TestBroker.Configuration}'")
        );
        Assert.That(others.Outcome, Is.EqualTo(PublishOutcome.Refused), "nor does it get what that one releases or replays");
        Assert.That(deliveries.Select(NumberOf).Distinct().Order(), Is.EqualTo(new[] { 0, 1, 2 }));
        Assert.That(
            await watch.HasQueueAsync(
                lanes is null ? Broker.Names.Endpoint(subscription.Endpoint) : Broker.Names.Lane(subscription.Endpoint, 0),
                cancellationToken
            ),
            Is.False,
            "nothing is made anew"
        );
        Assert.That(await PlanKindsAsync(subscription, "other", cancellationToken), Is.EqualTo(new[] { ChangeKind.Refuse }));
    }

    [TestCase(false, null), TestCase(true, null, Category = "Thorough"), TestCase(false, 4, Category = "Thorough")]
    public async Task Move_of_queues_of_release_0_1_brings_everything_over_in_its_order(
        bool isOrdered,
        int? lanes,
        CancellationToken cancellationToken
    )
    {
        var isParallel = !isOrdered && lanes is null;
        var subscription = await MakeOldAsync(
            Subscription("orders.#") with
            {
                SingleActive = isOrdered,
                Lanes = lanes,
                RetryDelays = isParallel ? [TimeSpan.FromMinutes(10)] : [],
            }
        );
        var old = Broker.Names.Old(subscription.Endpoint);
        for (var i = 0; i < 60; i++)
            await Transport.PublishAsync(Message("orders.accepted", $"{i}") with { Key = $"key-{i % 6}" }, cancellationToken);
        if (isParallel)
            await Foreign.BasicPublishAsync(
                "",
                old.Rung(TimeSpan.FromMinutes(10)),
                mandatory: true,
                Waiting(attempt: 2),
                "60"u8.ToArray(),
                cancellationToken
            );
        var all = isParallel ? 61 : 60;

        await using var session = await OpenAsync();
        var planned = (await new EndpointPlan(session, subscription).CompareAsync(cancellationToken)).Single();
        var told = new ConcurrentQueue<string>();
        await new QueueMigration(session, subscription, new NoUsers(), told.Enqueue, TimeProvider.System).RunAsync(cancellationToken);
        var afterwards = await new EndpointPlan(session, subscription).CompareAsync(cancellationToken);
        var inbox = new Inbox();
        await SubscribeAsync(inbox.HandleAsync, subscription);
        for (var i = all; i < all + 12; i++)
            await Transport.PublishAsync(Message("orders.accepted", $"{i}") with { Key = $"key-{i % 6}" }, cancellationToken);
        var deliveries = await inbox.NextAsync(all + 12, cancellationToken);

        Assert.That(
            (planned.Kind, planned.Detail),
            Is.EqualTo(
                (ChangeKind.Migrate, $"name is {old.Queue} there, {Broker.Names.Endpoint(subscription.Endpoint)} here; 60 messages wait")
            )
        );
        Assert.That(told, Has.Some.Contains($"{all} messages set aside"));
        Assert.That(afterwards.Select(change => change.Kind), Is.All.EqualTo(ChangeKind.Keep));
        Assert.That(deliveries.Select(NumberOf).Order(), Is.EqualTo(Enumerable.Range(0, all + 12)));
        foreach (var key in deliveries.Where(delivery => delivery.Message.Key is not null).GroupBy(delivery => delivery.Message.Key))
            Assert.That(key.Select(NumberOf), Is.Ordered, key.Key);
        if (isParallel)
            Assert.That(
                deliveries.Single(delivery => NumberOf(delivery) == 60).Message.Attempt,
                Is.EqualTo(2),
                "its attempts were counted"
            );
        Assert.That(inbox.TryNext(out _), Is.False);
        foreach (var queue in old.Lanes(lanes).Concat(subscription.RetryDelays.Select(old.Rung)).Concat([old.Backlog, old.Meanwhile]))
            Assert.That(await session.Connection.HasQueueAsync(queue, cancellationToken), Is.False, queue);
    }

    [Test, Category("Thorough")]
    public async Task What_was_moved_is_not_made_anew_by_a_host_of_release_0_1_and_another_configuration_may_have_its_own(
        CancellationToken cancellationToken
    )
    {
        var subscription = await MakeOldAsync(Subscription("orders.#") with { RetryDelays = [] });
        await using var session = await OpenAsync();
        await new QueueMigration(session, subscription, new NoUsers(), TestContext.Out.WriteLine, TimeProvider.System).RunAsync(
            cancellationToken
        );
        var (ours, others) = (new Inbox(), new Inbox());

        await SubscribeAsync(ours.HandleAsync, subscription);
        await using var running = await _other.SubscribeAsync(subscription, others.HandleAsync, cancellationToken);
        await Transport.PublishAsync(Message("orders.accepted", "7"), cancellationToken);
        var record = await session.Records.PeekAsync(session.Connection, Broker.Names.Old(subscription.Endpoint), cancellationToken);

        Assert.That(
            (NumberOf(await ours.NextAsync(cancellationToken)), NumberOf(await others.NextAsync(cancellationToken))),
            Is.EqualTo((7, 7))
        );
        Assert.That(record, Is.Not.Null);
        Assert.That(
            (record!.IsMigrating, record.IsMoved, record.Owner),
            Is.EqualTo((true, true, TestBroker.Configuration)),
            "release 0.1 waits for the end of the migration"
        );
    }

    [Test, Category("Thorough")]
    public async Task Move_that_was_stopped_goes_on_and_nobody_consumes_meanwhile(CancellationToken cancellationToken)
    {
        var subscription = await MakeOldAsync(Subscription("orders.#") with { Lanes = 4, RetryDelays = [] });
        for (var i = 0; i < 40; i++)
            await Transport.PublishAsync(Message("orders.accepted", $"{i}") with { Key = "one" }, cancellationToken);
        await using var session = await OpenAsync();
        using var stopping = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);

        Assert.CatchAsync<OperationCanceledException>(() =>
            new QueueMigration(session, subscription, new NoUsers(), _ => stopping.Cancel(), TimeProvider.System).RunAsync(stopping.Token)
        );
        for (var i = 40; i < 50; i++)
            await Transport.PublishAsync(Message("orders.accepted", $"{i}") with { Key = "one" }, cancellationToken);
        var early = await SubscribeAsync(new Inbox().HandleAsync, subscription);
        var reason = early.Reason;
        await early.DisposeAsync();
        var sent = await Transport.SendAsync(subscription.Endpoint, Message("orders.accepted"), DeliveryKind.Release, cancellationToken);
        await new QueueMigration(session, subscription, new NoUsers(), TestContext.Out.WriteLine, TimeProvider.System).RunAsync(
            cancellationToken
        );
        var inbox = new Inbox();
        await SubscribeAsync(inbox.HandleAsync, subscription);

        Assert.That(reason, Does.StartWith("ESB-CFG-QUEUEDRIFT").And.Contains("not finished"));
        Assert.That(sent.Outcome, Is.EqualTo(PublishOutcome.Refused), "whoever releases or replays tries again");
        Assert.That((await inbox.NextAsync(50, cancellationToken)).Select(NumberOf), Is.EqualTo(Enumerable.Range(0, 50)));
    }

    [Test, Category("Thorough")]
    public async Task Migration_that_release_0_1_began_is_finished_before_the_move(CancellationToken cancellationToken)
    {
        var subscription = await MakeOldAsync(
            Subscription("orders.#") with
            {
                RetryDelays = [],
            },
            state: "\"isMigrating\":true,\"isEmptied\":false"
        );
        for (var i = 0; i < 10; i++)
            await Transport.PublishAsync(Message("orders.accepted", $"{i}"), cancellationToken);
        await using var session = await OpenAsync();

        await new QueueMigration(session, subscription, new NoUsers(), TestContext.Out.WriteLine, TimeProvider.System).RunAsync(
            cancellationToken
        );
        var inbox = new Inbox();
        await SubscribeAsync(inbox.HandleAsync, subscription);

        Assert.That((await inbox.NextAsync(10, cancellationToken)).Select(NumberOf), Is.EqualTo(Enumerable.Range(0, 10)));
        Assert.That(await session.Connection.HasQueueAsync(Broker.Names.Old(subscription.Endpoint).Queue, cancellationToken), Is.False);
        Assert.That(inbox.TryNext(out _), Is.False);
    }

    [Test, Category("Thorough")]
    public async Task Nothing_is_moved_while_a_host_of_release_0_1_lives(CancellationToken cancellationToken)
    {
        var subscription = await MakeOldAsync(Subscription("orders.#") with { RetryDelays = [] });
        await Transport.PublishAsync(Message("orders.accepted", "0"), cancellationToken);
        await using var session = await OpenAsync();
        var self = new FarmHost(Guid.NewGuid(), "a-host-of-0.1");
        await using var old = await ControlBus.StartAsync(
            session.Address,
            Broker.Names.Farm,
            self,
            _ => { },
            NullLoggerFactory.Instance,
            cancellationToken
        );
        using var living = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        var beating = BeatAsync(old, self, living.Token);
        await using var visit = await FarmVisit.BeginAsync(
            session.Address,
            Broker.Names.Farm,
            TestBroker.FarmKeys,
            TimeProvider.System,
            cancellationToken
        );

        var failure = Assert.ThrowsAsync<EsbException>(() =>
            new QueueMigration(
                session,
                subscription,
                new FarmQueueUsers(visit, subscription.Endpoint, _ => { }),
                _ => { },
                TimeProvider.System
            ).RunAsync(cancellationToken)
        );
        await living.CancelAsync();
        await beating;
        var inbox = new Inbox();
        await SubscribeAsync(inbox.HandleAsync, subscription);

        Assert.That((failure!.Code, failure.Message), Is.EqualTo(("ESB-PLAN-BUSY", failure.Message)));
        Assert.That(
            failure.Message,
            Does.StartWith("a-host-of-0.1 ").And.Contain("release 0.1").And.Not.Contain(Transport.Farm.Self.Name + ",")
        );
        Assert.That(NumberOf(await inbox.NextAsync(cancellationToken)), Is.Zero);
    }

    [Test]
    public async Task Dead_letters_of_release_0_1_reach_the_configuration_that_has_the_queues(CancellationToken cancellationToken)
    {
        var (mine, theirs, nobodys) = (
            await MakeOldAsync(Subscription("orders.#")),
            await MakeOldAsync(Subscription("orders.#")),
            await MakeOldAsync(Subscription("orders.#"))
        );
        await SubscribeAsync(new Inbox().HandleAsync, mine);
        await using (await _other.SubscribeAsync(theirs, new Inbox().HandleAsync, cancellationToken))
        {
            var (ours, others) = (new ConcurrentQueue<DeadLetter>(), new ConcurrentQueue<DeadLetter>());
            await using var reading = await ReadAsync(Transport, ours);
            foreach (var endpoint in new[] { theirs, mine, theirs, nobodys })
                await Foreign.BasicPublishAsync(
                    "",
                    Broker.Names.OldDeadLetters,
                    mandatory: true,
                    DeadAt(endpoint.Endpoint),
                    "0"u8.ToArray(),
                    cancellationToken
                );

            await Eventually.HoldsAsync(() => ours.Count == 2, cancellationToken);
            await using var otherReading = await ReadAsync(_other, others);
            await Eventually.HoldsAsync(() => others.Count == 2, cancellationToken);

            Assert.That(ours.Select(letter => letter.Endpoint), Is.EqualTo(new[] { mine.Endpoint, nobodys.Endpoint }));
            Assert.That(
                others.Select(letter => (letter.Endpoint, letter.Code, letter.Message.Subject)),
                Is.All.EqualTo((theirs.Endpoint, "ESB-TEST", "orders.accepted"))
            );
        }
    }

    private async Task<Subscription> MakeOldAsync(Subscription subscription, string state = "\"isMigrating\":false,\"isEmptied\":false")
    {
        Broker.Note(subscription);
        _old.Add(subscription);
        await OldQueues.DeclareAsync(Foreign, Broker.Prefix, subscription, state);
        return subscription;
    }

    private Task<BrokerSession> OpenAsync(string configuration = TestBroker.Configuration) =>
        BrokerSession.OpenAsync(
            new RabbitMqTransportConfig { Url = Servers.RabbitMq, Prefix = Broker.Prefix },
            configuration,
            [.. Topics.Keys],
            TimeProvider.System,
            CancellationToken.None
        );

    private async Task<IEnumerable<ChangeKind>> PlanKindsAsync(
        Subscription subscription,
        string configuration,
        CancellationToken cancellationToken
    )
    {
        await using var session = await OpenAsync(configuration);
        return [.. (await new EndpointPlan(session, subscription).CompareAsync(cancellationToken)).Select(change => change.Kind)];
    }

    private static async Task BeatAsync(ControlBus bus, FarmHost self, CancellationToken living)
    {
        while (!living.IsCancellationRequested)
        {
            await bus.PublishAsync(
                new FarmMessage
                {
                    From = self.Id,
                    Host = self.Name,
                    Kind = FarmMessage.Heartbeat,
                    Body = "[]",
                },
                CancellationToken.None
            );
            await Task.Delay(500, CancellationToken.None);
        }
    }

    private static Task<ITopicReader> ReadAsync(RabbitMqTransport host, ConcurrentQueue<DeadLetter> letters) =>
        host.ReadDeadLettersAsync(
            (letter, _) =>
            {
                letters.Enqueue(letter);
                return ValueTask.CompletedTask;
            },
            CancellationToken.None
        );

    private static DeadLetter Letter(TopicDelivery delivery, string code) =>
        new(delivery.Message, "the-endpoint", code, "", null, 1, DateTimeOffset.UnixEpoch, DateTimeOffset.UnixEpoch);

    private static BasicProperties Waiting(int attempt) =>
        new()
        {
            MessageId = $"{Guid.NewGuid()}",
            Persistent = true,
            Headers = new Dictionary<string, object?>
            {
                ["esb-kind"] = "moved",
                ["esb-subject"] = "orders.accepted",
                ["esb-attempt"] = attempt,
            },
        };

    private static BasicProperties DeadAt(string endpoint) =>
        new()
        {
            MessageId = $"{Guid.NewGuid()}",
            Persistent = true,
            Headers = new Dictionary<string, object?>
            {
                ["esb-subject"] = "orders.accepted",
                ["esb-dead-endpoint"] = endpoint,
                ["esb-dead-code"] = "ESB-TEST",
            },
        };

    private static int NumberOf(TopicDelivery delivery) =>
        int.Parse(Encoding.UTF8.GetString(delivery.Message.Body.Bytes.Span), System.Globalization.CultureInfo.InvariantCulture);
}
