using System.Collections.Concurrent;
using System.Diagnostics;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Topics;

namespace Esb.IntegrationTests.Topics.Broker;

/// <summary>A broker that is away, comes back, dies, closes what is open, and is short of memory.</summary>
[TestFixture]
public sealed class BrokerOutageTests : PrivateBrokerTests
{
    [Test, CancelAfter(120_000)]
    public async Task A_broker_that_is_away_at_the_start_is_joined_when_it_comes(CancellationToken cancellationToken)
    {
        await OwnServers.StopAsync("rabbitmq");
        var inbox = new Inbox();

        await Transport.StartAsync(cancellationToken);
        await using var subscription = await Transport.SubscribeAsync(Subscription(), inbox.HandleAsync, cancellationToken);
        var started = Stopwatch.GetTimestamp();
        var refused = await Transport.PublishAsync(Message("0"), cancellationToken);
        var took = Stopwatch.GetElapsedTime(started);
        var status = Transport.Status;
        var failure = Assert.ThrowsAsync<EsbException>(() =>
            Transport.RequestAsync(Message("0"), TimeSpan.FromSeconds(5), cancellationToken)
        );
        await OwnServers.StartAsync("rabbitmq");
        await Eventually.HoldsAsync(() => subscription.IsLive && Transport.Status.IsReady, cancellationToken);
        var confirmed = await Transport.PublishAsync(Message("1"), cancellationToken);

        Assert.That(
            (refused.Outcome, status.IsReady, status.Reason, failure!.Code),
            Is.EqualTo((PublishOutcome.Refused, false, "broker away", "ESB-TOPIC-UNAVAILABLE"))
        );
        Assert.That(took, Is.LessThan(TimeSpan.FromSeconds(1)));
        Assert.That(confirmed.Outcome, Is.EqualTo(PublishOutcome.Confirmed));
        Assert.That((await inbox.NextAsync(cancellationToken)).Message.Body.ReadText(), Is.EqualTo("1"));
    }

    [Test, CancelAfter(120_000), Property("Case", "T-CFG-3")]
    public async Task A_host_that_waited_for_its_broker_is_ready_once_its_messages_find_their_queues(CancellationToken cancellationToken)
    {
        const int Endpoints = 150; // so many take longer to declare than anything else that readiness waits for
        await OwnServers.StopAsync("rabbitmq");
        await Transport.StartAsync(cancellationToken);
        var inbox = new Inbox();
        for (var i = 0; i < Endpoints; i++)
            await Transport.SubscribeAsync(Subscription() with { Endpoint = $"endpoint-{i}" }, inbox.HandleAsync, cancellationToken);

        await OwnServers.StartAsync("rabbitmq");
        while (!Transport.Status.IsReady)
            await Task.Delay(1, cancellationToken);
        var confirmed = await Transport.PublishAsync(Message("1"), cancellationToken);

        Assert.That(confirmed.Outcome, Is.EqualTo(PublishOutcome.Confirmed));
        Assert.That(await inbox.NextAsync(Endpoints, cancellationToken), Has.Count.EqualTo(Endpoints), "none found its queue missing");
    }

    [Test, CancelAfter(120_000), Property("Case", "T-ORD-1")]
    public async Task Keys_keep_their_lanes_when_the_broker_restarts(CancellationToken cancellationToken)
    {
        const int Keys = 100;
        await Transport.StartAsync(cancellationToken);
        var lanes = new ConcurrentDictionary<string, ConcurrentQueue<int>>();
        var inbox = new Inbox(delivery =>
        {
            lanes.GetOrAdd(delivery.Message.Key!, _ => new ConcurrentQueue<int>()).Enqueue(delivery.Source.Lane);
            return Settlement.Done;
        });
        await using var subscription = await Transport.SubscribeAsync(
            Subscription() with
            {
                Lanes = 16,
                Concurrency = 8,
            },
            inbox.HandleAsync,
            cancellationToken
        );

        await PublishAllAsync();
        await OwnServers.KillAsync("rabbitmq");
        await Eventually.HoldsAsync(() => !subscription.IsLive, cancellationToken);
        await OwnServers.StartAsync("rabbitmq");
        await Eventually.HoldsAsync(() => subscription.IsLive && Transport.Status.IsReady, cancellationToken);
        await PublishAllAsync();
        await Eventually.HoldsAsync(() => lanes.Values.Sum(found => found.Count) >= 2 * Keys, cancellationToken);

        Assert.That(
            lanes.Where(found => found.Value.Distinct().Count() > 1).Select(found => $"{found.Key}: {string.Join(", ", found.Value)}"),
            Is.Empty
        );

        async Task PublishAllAsync()
        {
            for (var key = 0; key < Keys; key++)
                await ConfirmAsync(Message("x") with { Key = $"k{key}" }, cancellationToken);
        }
    }

    [TestCase("stop")]
    [TestCase("kill")]
    [CancelAfter(120_000)]
    public async Task After_a_restart_everything_works_again_and_nothing_confirmed_is_lost(string how, CancellationToken cancellationToken)
    {
        await Transport.StartAsync(cancellationToken);
        var seen = new ConcurrentDictionary<string, bool>();
        var inbox = new Inbox(delivery =>
        {
            seen[delivery.Message.Body.ReadText()] = true;
            return Settlement.Done;
        });
        await using var subscription = await Transport.SubscribeAsync(
            Subscription() with
            {
                Concurrency = 4,
            },
            inbox.HandleAsync,
            cancellationToken
        );
        var confirmed = new ConcurrentBag<string>();
        using var ending = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        var publishers = Enumerable.Range(0, 4).Select(publisher => PublishAsync($"{publisher}", confirmed, ending.Token)).ToList();
        await Eventually.HoldsAsync(() => confirmed.Count > 500, cancellationToken);

        await (how == "kill" ? OwnServers.KillAsync("rabbitmq") : OwnServers.StopAsync("rabbitmq"));
        await Eventually.HoldsAsync(() => !subscription.IsLive, cancellationToken);
        await OwnServers.StartAsync("rabbitmq");
        var back = Stopwatch.GetTimestamp();
        await Eventually.HoldsAsync(() => subscription.IsLive, cancellationToken);
        TestContext.Out.WriteLine($"consuming again {Stopwatch.GetElapsedTime(back).TotalSeconds:0.0} s after the broker was back");
        var before = confirmed.Count;
        await Eventually.HoldsAsync(() => confirmed.Count > before + 500, cancellationToken);
        await ending.CancelAsync();
        await Task.WhenAll(publishers);
        await Eventually.HoldsAsync(() => confirmed.All(seen.ContainsKey), cancellationToken);

        Assert.That(confirmed.Where(text => !seen.ContainsKey(text)), Is.Empty);
    }

    [Test, CancelAfter(120_000)]
    public async Task Connections_closed_again_and_again_lose_nothing_and_keep_the_order(CancellationToken cancellationToken)
    {
        await Transport.StartAsync(cancellationToken);
        var seen = new ConcurrentQueue<int>();
        var inbox = new Inbox(delivery =>
        {
            seen.Enqueue(int.Parse(delivery.Message.Body.ReadText()));
            return Settlement.Done;
        });
        await using var subscription = await Transport.SubscribeAsync(
            Subscription() with
            {
                SingleActive = true,
                Prefetch = 50,
            },
            inbox.HandleAsync,
            cancellationToken
        );

        var closing = CloseConnectionsAsync(times: 3, cancellationToken);
        var count = 0;
        for (; !closing.IsCompleted || count < 500; count++)
            await ConfirmAsync(Message($"{count}") with { Key = "one" }, cancellationToken);
        await closing;
        await Eventually.HoldsAsync(() => seen.Distinct().Count() == count, cancellationToken);

        // A repetition may come late, but the first time that each message is seen is in order.
        Assert.That(seen.Distinct(), Is.EqualTo(Enumerable.Range(0, count)));
    }

    [Test, CancelAfter(120_000)]
    public async Task A_handler_that_takes_long_does_not_keep_the_endpoint_from_coming_back(CancellationToken cancellationToken)
    {
        await Transport.StartAsync(cancellationToken);
        var tries = 0;
        var again = new TaskCompletionSource();
        await using var subscription = await Transport.SubscribeAsync(
            Subscription() with
            {
                SingleActive = true,
            },
            async (_, aborted) =>
            {
                if (Interlocked.Increment(ref tries) == 1)
                    await Task.Delay(Timeout.InfiniteTimeSpan, aborted);
                again.TrySetResult();
                return Settlement.Done;
            },
            cancellationToken
        );
        await ConfirmAsync(Message("stuck"), cancellationToken);
        await Eventually.HoldsAsync(() => tries == 1, cancellationToken);

        await OwnServers.ControlRabbitMqAsync("close_all_connections", "test");

        await again.Task.WaitAsync(cancellationToken);
        Assert.That(tries, Is.EqualTo(2));
    }

    [TestCase(true)]
    [TestCase(false)]
    [CancelAfter(90_000)]
    [Property("Case", "T-TMO-1")]
    public async Task A_delivery_held_beyond_the_acknowledgement_timeout_costs_its_channel_only(
        bool inOrder,
        CancellationToken cancellationToken
    )
    {
        await OwnServers.ControlRabbitMqAsync(
            "eval",
            "application:set_env(rabbit, consumer_timeout, 3000), application:set_env(rabbit, channel_tick_interval, 500)."
        );
        try
        {
            await Transport.StartAsync(cancellationToken);
            var (lost, begun) = (new TaskCompletionSource(), 0);
            var inbox = new Inbox();
            var subscription = await Transport.SubscribeAsync(
                Subscription() with
                {
                    SingleActive = inOrder,
                },
                async (delivery, aborted) =>
                {
                    if (Interlocked.Exchange(ref begun, 1) == 1)
                        return await inbox.HandleAsync(delivery, aborted);
                    await using var noticing = delivery.Source.Lost.Register(lost.SetResult);
                    await Task.Delay(Timeout.InfiniteTimeSpan, aborted);
                    return Settlement.Done;
                },
                cancellationToken
            );
            await ConfirmAsync(Message("stuck"), cancellationToken);
            await ConfirmAsync(Message("next"), cancellationToken);

            await lost.Task.WaitAsync(cancellationToken);
            var began = Stopwatch.GetTimestamp();
            var deliveries = await inbox.NextAsync(inOrder ? 2 : 1, cancellationToken);
            TestContext.Out.WriteLine($"consuming again {Stopwatch.GetElapsedTime(began).TotalSeconds:0.0} s after the channel was lost");
            await subscription.DisposeAsync().AsTask().WaitAsync(TimeSpan.FromSeconds(10), cancellationToken);

            Assert.That(deliveries[0].Message.Body.ReadText(), Is.EqualTo("stuck"));
            Assert.That(deliveries.Select(delivery => delivery.Redeliveries), Is.All.Zero, "this process has lived through it");
            Assert.That(Stopwatch.GetElapsedTime(began), Is.LessThan(TimeSpan.FromSeconds(30)));
            Assert.That(Log.All, Has.Some.Contains("ESB-AMQP-ACKTIMEOUT").And.Contains("consumer_timeout"));
        }
        finally
        {
            await OwnServers.ControlRabbitMqAsync(
                "eval",
                "application:set_env(rabbit, consumer_timeout, 1800000), application:set_env(rabbit, channel_tick_interval, 60000)."
            );
        }
    }

    [Test, CancelAfter(60_000)]
    public async Task A_request_ends_when_the_broker_closes_the_connection_of_its_reply(CancellationToken cancellationToken)
    {
        await Transport.StartAsync(cancellationToken);
        var inbox = new Inbox();
        await using var subscription = await Transport.SubscribeAsync(Subscription(), inbox.HandleAsync, cancellationToken);
        await Eventually.HoldsAsync(
            async () => (await Transport.PublishAsync(Message("ready"), cancellationToken)).Outcome == PublishOutcome.Confirmed,
            cancellationToken
        );
        await inbox.NextAsync(cancellationToken);

        var waiting = Transport.RequestAsync(Message("question"), TimeSpan.FromSeconds(50), cancellationToken);
        await inbox.NextAsync(cancellationToken);
        await OwnServers.ControlRabbitMqAsync("close_all_connections", "test");

        var failure = Assert.ThrowsAsync<EsbException>(() => waiting);
        Assert.That(failure!.Code, Is.EqualTo("ESB-TOPIC-UNKNOWN"));
    }

    [Test, CancelAfter(60_000)]
    public async Task A_broker_short_of_memory_refuses_at_once_and_goes_on_delivering(CancellationToken cancellationToken)
    {
        await Transport.StartAsync(cancellationToken);
        var gate = new TaskCompletionSource();
        var handled = 0;
        await using var subscription = await Transport.SubscribeAsync(
            Subscription(),
            async (_, _) =>
            {
                await gate.Task;
                Interlocked.Increment(ref handled);
                return Settlement.Done;
            },
            cancellationToken
        );
        for (var i = 0; i < 5; i++)
            await ConfirmAsync(Message($"{i}"), cancellationToken);
        await OwnServers.ControlRabbitMqAsync("set_vm_memory_high_watermark", "0");
        try
        {
            var unknown = await Transport.PublishAsync(Message("blocked"), cancellationToken);
            var refused = await Transport.PublishAsync(Message("refused"), cancellationToken);
            var status = Transport.Status; // publishing took longer than the 2 s that a block may last
            gate.SetResult();
            await Eventually.HoldsAsync(() => handled >= 5, cancellationToken);

            Assert.That(
                (unknown.Outcome, refused.Outcome, status.IsReady),
                Is.EqualTo((PublishOutcome.Unknown, PublishOutcome.Refused, false))
            );
            Assert.That(status.Reason, Is.EqualTo("the broker blocks publishers: low on memory"));
        }
        finally
        {
            await OwnServers.ControlRabbitMqAsync("set_vm_memory_high_watermark", "0.4");
        }

        await ConfirmAsync(Message("again"), cancellationToken);
        Assert.That(subscription.IsLive, Is.True);
    }

    private async Task PublishAsync(string publisher, ConcurrentBag<string> confirmed, CancellationToken ending)
    {
        for (var i = 0; !ending.IsCancellationRequested; i++)
        {
            var message = Message($"{publisher}-{i}");
            if ((await Transport.PublishAsync(message, CancellationToken.None)).Outcome == PublishOutcome.Confirmed)
                confirmed.Add(message.Body.ReadText());
            else
                await Task.Delay(50, CancellationToken.None);
        }
    }

    private async Task CloseConnectionsAsync(int times, CancellationToken cancellationToken)
    {
        for (var i = 0; i < times; i++)
        {
            await OwnServers.ControlRabbitMqAsync("close_all_connections", "test");
            await Eventually.HoldsAsync(() => Transport.Status.IsReady, cancellationToken);
        }
    }
}
