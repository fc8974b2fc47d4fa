using Esb.Core.Errors;
using Esb.Core.Topics;
using Esb.Topics.RabbitMq;
using Esb.Topics.RabbitMq.Connections;
using Esb.Topics.RabbitMq.Planning;
using Esb.Topics.RabbitMq.Wire;
using RabbitMQ.Client;

namespace Esb.IntegrationTests.Topics.Queues;

/// <summary>Messages that somebody was given and has not settled: the broker does not count them among those that wait.</summary>
[Category("Thorough"), TestFixture]
public sealed class HeldQueueTests : BrokerFixture
{
    [Test, CancelAfter(60_000)]
    public async Task Queues_of_which_somebody_holds_messages_are_not_deleted(CancellationToken cancellationToken)
    {
        var before = Subscription("orders.#");
        var after = before with { SingleActive = true };
        Broker.Note(after);
        await (await SubscribeAsync(new Inbox().HandleAsync, before)).DisposeAsync();
        await using var session = await BrokerSession.OpenAsync(
            new RabbitMqTransportConfig { Url = Servers.RabbitMq, Prefix = Broker.Prefix },
            TestBroker.Configuration,
            [.. Topics.Keys],
            TimeProvider.System,
            cancellationToken
        );
        await using var stranger = new Stranger(await Broker.ConnectAsync(), Broker.Names.Endpoint(before.Endpoint));

        var refused = Assert.ThrowsAsync<EsbException>(() =>
            new QueueMigration(session, after, stranger, TestContext.Out.WriteLine, TimeProvider.System).RunAsync(cancellationToken)
        );
        await stranger.DisposeAsync();
        await new QueueMigration(session, after, stranger, TestContext.Out.WriteLine, TimeProvider.System).RunAsync(cancellationToken);
        var inbox = new Inbox();
        await SubscribeAsync(inbox.HandleAsync, after);

        Assert.That(refused!.Code, Is.EqualTo("ESB-PLAN-BUSY"));
        Assert.That(
            (await inbox.NextAsync(Stranger.Messages, cancellationToken)).Select(delivery => delivery.Message.Body.ReadText()),
            Is.EqualTo(new[] { "0", "1", "2" })
        );
    }

    [Test, CancelAfter(60_000)]
    public async Task What_a_new_queue_has_no_room_for_is_refused_during_the_migration(CancellationToken cancellationToken)
    {
        var before = Subscription("orders.#") with { RetryDelays = [] };
        var after = before with { Queue = new QueueConfig { MaxLength = 30 } };
        Broker.Note(after);
        await (await SubscribeAsync(new Inbox().HandleAsync, before)).DisposeAsync();
        for (var i = 0; i < 20; i++)
            await Transport.PublishAsync(Message("orders.accepted", $"{i}"), cancellationToken);
        await using var session = await BrokerSession.OpenAsync(
            new RabbitMqTransportConfig { Url = Servers.RabbitMq, Prefix = Broker.Prefix },
            TestBroker.Configuration,
            [.. Topics.Keys],
            TimeProvider.System,
            cancellationToken
        );
        using var ending = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        using var publishers = new HeldPublishers();
        var accepted = PublishAsync(ending.Token);

        await new QueueMigration(session, after, publishers, TestContext.Out.WriteLine, TimeProvider.System).RunAsync(cancellationToken);
        await ending.CancelAsync();
        var inbox = new Inbox();
        await SubscribeAsync(inbox.HandleAsync, after);
        var taken = await accepted;
        var deliveries = await inbox.NextAsync(20 + taken, cancellationToken);

        Assert.That(taken, Is.InRange(1, 11), "ten, and one that was on its way");
        Assert.That(
            deliveries.Take(20).Select(delivery => delivery.Message.Body.ReadText()),
            Is.EqualTo(Enumerable.Range(0, 20).Select(i => $"{i}"))
        );

        async Task<int> PublishAsync(CancellationToken stopping)
        {
            var count = 0;
            while (!stopping.IsCancellationRequested)
            {
                using (await publishers.PassAsync())
                {
                    if (
                        (await Transport.PublishAsync(Message("orders.accepted", "late"), CancellationToken.None)).Outcome
                        == PublishOutcome.Confirmed
                    )
                        count++;
                }

                await Task.Delay(20, CancellationToken.None);
            }

            return count;
        }
    }

    [Test, CancelAfter(60_000)]
    public async Task A_record_that_somebody_holds_is_not_taken_for_none(CancellationToken cancellationToken)
    {
        var subscription = Subscription("orders.#") with { Lanes = 8, RetryDelays = [] };
        await (await SubscribeAsync(new Inbox().HandleAsync, subscription)).DisposeAsync();
        var holder = await Broker.ConnectAsync();
        var channel = await holder.CreateChannelAsync(cancellationToken: cancellationToken);
        Assert.That(
            await channel.BasicGetAsync(Broker.Names.Of(subscription.Endpoint).Record, autoAck: false, cancellationToken),
            Is.Not.Null
        );

        var running = await SubscribeAsync(new Inbox().HandleAsync, subscription with { Lanes = 4 });
        var (wasLive, reason) = (running.IsLive, running.Reason);
        await holder.DisposeAsync();
        await Eventually.HoldsAsync(
            () => running.Reason?.StartsWith("ESB-CFG-QUEUEDRIFT", StringComparison.Ordinal) == true,
            cancellationToken
        );

        Assert.That(wasLive, Is.False);
        Assert.That(reason, Is.EqualTo("broker away"), "it is tried again");
        Assert.That(running.Reason, Does.Contain("lanes is 8 there, 4 here"));
    }

    [Test, CancelAfter(60_000)]
    public async Task A_host_sends_to_lanes_that_only_others_consume(CancellationToken cancellationToken)
    {
        var inbox = new Inbox();
        var subscription = Subscription("orders.#") with { Lanes = 4 };
        await SubscribeAsync(inbox.HandleAsync, subscription);
        await using var standby = Broker.CreateTransport(Topics);
        await standby.StartAsync(cancellationToken);

        var sent = await standby.SendAsync(
            subscription.Endpoint,
            Message("orders.accepted", "again") with
            {
                Key = "one",
            },
            DeliveryKind.Replay,
            cancellationToken
        );
        var lost = await standby.SendAsync("nobody", Message("orders.accepted"), DeliveryKind.Replay, cancellationToken);
        var delivery = await inbox.NextAsync(cancellationToken);

        Assert.That((sent.Outcome, lost.Outcome), Is.EqualTo((PublishOutcome.Confirmed, PublishOutcome.Refused)));
        Assert.That((delivery.Kind, delivery.Message.Body.ReadText()), Is.EqualTo((DeliveryKind.Replay, "again")));
    }

    // Comes when all others hold back, and is given what it publishes.
    private sealed class Stranger(IConnection connection, string queue) : IQueueUsers, IAsyncDisposable
    {
        public const int Messages = 3;

        private bool _hasCome;

        public Task LetGoAsync(CancellationToken cancellationToken) => Task.CompletedTask;

        public void RefuseOldHosts() { }

        public async Task<IAsyncDisposable> HoldPublishesAsync(IReadOnlyList<string> destinations, CancellationToken cancellationToken)
        {
            if (_hasCome || !destinations.Contains(queue))
                return new NoUsers(); // right before the queue is deleted
            _hasCome = true;
            var channel = await connection.CreateChannelAsync(
                new CreateChannelOptions(publisherConfirmationsEnabled: true, publisherConfirmationTrackingEnabled: true),
                cancellationToken
            );
            for (var i = 0; i < Messages; i++)
                await channel.BasicPublishAsync(
                    "",
                    queue,
                    mandatory: true,
                    new BasicProperties { Persistent = true },
                    System.Text.Encoding.UTF8.GetBytes($"{i}"),
                    cancellationToken
                );
            for (var i = 0; i < Messages; i++)
                Assert.That(await channel.BasicGetAsync(queue, autoAck: false, cancellationToken), Is.Not.Null);
            return new NoUsers();
        }

        public Task GoOnAsync() => Task.CompletedTask;

        public async ValueTask DisposeAsync() => await connection.DisposeAsync();
    }

    private sealed class HeldPublishers : IQueueUsers, IDisposable
    {
        private readonly SemaphoreSlim _one = new(1);

        public async Task<IDisposable> PassAsync()
        {
            await _one.WaitAsync();
            return new Release(_one);
        }

        public Task LetGoAsync(CancellationToken cancellationToken) => Task.CompletedTask;

        public void RefuseOldHosts() { }

        public async Task<IAsyncDisposable> HoldPublishesAsync(IReadOnlyList<string> destinations, CancellationToken cancellationToken)
        {
            await _one.WaitAsync(cancellationToken);
            return new Release(_one);
        }

        public Task GoOnAsync() => Task.CompletedTask;

        public void Dispose() => _one.Dispose();

        private sealed class Release(SemaphoreSlim one) : IDisposable, IAsyncDisposable
        {
            public void Dispose() => one.Release();

            public ValueTask DisposeAsync()
            {
                Dispose();
                return ValueTask.CompletedTask;
            }
        }
    }
}
