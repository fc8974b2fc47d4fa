using System.Collections.Concurrent;
using System.Diagnostics;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Topics;
using Esb.Topics.RabbitMq;

namespace Esb.IntegrationTests.Topics;

/// <summary>A broker that is away, comes back, dies, and forgets who we are.</summary>
[TestFixture, Category("Faults")]
public sealed class BrokerOutageTests
{
    private static readonly Dictionary<string, TopicConfig> Topics = new() { ["orders"] = new() };

    private PrivateServers _servers = null!;
    private RabbitMqTransport _transport = null!;
    private LogLines _log = null!;

    [OneTimeSetUp]
    public async Task StartServers() => _servers = await PrivateServers.StartAsync();

    [OneTimeTearDown]
    public async Task StopServers() => await _servers.DisposeAsync();

    [SetUp]
    public void CreateTransport()
    {
        _log = new LogLines();
        _transport = new TestBroker(_servers.RabbitMq).CreateTransport(Topics, loggers: _log.Factory);
    }

    [TearDown]
    public async Task StopTransport() => await _transport.DisposeAsync();

    [Test, CancelAfter(120_000)]
    public async Task A_broker_that_is_away_at_the_start_is_joined_when_it_comes(CancellationToken cancellationToken)
    {
        await _servers.StopAsync("rabbitmq");
        var inbox = new Inbox();

        await _transport.StartAsync(cancellationToken);
        await using var subscription = await _transport.SubscribeAsync(Subscription(), inbox.HandleAsync, cancellationToken);
        var started = Stopwatch.GetTimestamp();
        var refused = await _transport.PublishAsync(Message("0"), cancellationToken);
        var took = Stopwatch.GetElapsedTime(started);
        var status = _transport.Status;
        var failure = Assert.ThrowsAsync<EsbException>(() => _transport.RequestAsync(Message("0"), TimeSpan.FromSeconds(5), cancellationToken));
        await _servers.StartAsync("rabbitmq");
        await Eventually.HoldsAsync(() => subscription.IsLive && _transport.Status.IsReady, cancellationToken);
        var confirmed = await _transport.PublishAsync(Message("1"), cancellationToken);

        Assert.That((refused.Outcome, status.IsReady, status.Reason, failure!.Code), Is.EqualTo((PublishOutcome.Refused, false, "broker away", "ESB-TOPIC-UNAVAILABLE")));
        Assert.That(took, Is.LessThan(TimeSpan.FromSeconds(1)));
        Assert.That(confirmed.Outcome, Is.EqualTo(PublishOutcome.Confirmed));
        Assert.That((await inbox.NextAsync(cancellationToken)).Message.Body.ReadText(), Is.EqualTo("1"));
    }

    [Test, CancelAfter(120_000), Property("Case", "T-CFG-3")]
    public async Task A_host_that_waited_for_its_broker_is_ready_once_its_messages_find_their_queues(CancellationToken cancellationToken)
    {
        const int Endpoints = 150; // so many take longer to declare than anything else that readiness waits for
        await _servers.StopAsync("rabbitmq");
        await _transport.StartAsync(cancellationToken);
        var inbox = new Inbox();
        for (var i = 0; i < Endpoints; i++) await _transport.SubscribeAsync(Subscription() with { Endpoint = $"endpoint-{i}" }, inbox.HandleAsync, cancellationToken);

        await _servers.StartAsync("rabbitmq");
        while (!_transport.Status.IsReady) await Task.Delay(1, cancellationToken);
        var confirmed = await _transport.PublishAsync(Message("1"), cancellationToken);

        Assert.That(confirmed.Outcome, Is.EqualTo(PublishOutcome.Confirmed));
        Assert.That(await inbox.NextAsync(Endpoints, cancellationToken), Has.Count.EqualTo(Endpoints), "none found its queue missing");
    }

    [Test, CancelAfter(120_000), Property("Case", "T-ORD-1")]
    public async Task Keys_keep_their_lanes_when_the_broker_restarts(CancellationToken cancellationToken)
    {
        const int Keys = 100;
        await _transport.StartAsync(cancellationToken);
        var lanes = new ConcurrentDictionary<string, ConcurrentQueue<int>>();
        var inbox = new Inbox(delivery =>
        {
            lanes.GetOrAdd(delivery.Message.Key!, _ => new ConcurrentQueue<int>()).Enqueue(delivery.Source.Lane);
            return Settlement.Done;
        });
        await using var subscription = await _transport.SubscribeAsync(Subscription() with { Lanes = 16, Concurrency = 8 }, inbox.HandleAsync, cancellationToken);

        await PublishAllAsync();
        await _servers.KillAsync("rabbitmq");
        await Eventually.HoldsAsync(() => !subscription.IsLive, cancellationToken);
        await _servers.StartAsync("rabbitmq");
        await Eventually.HoldsAsync(() => subscription.IsLive && _transport.Status.IsReady, cancellationToken);
        await PublishAllAsync();
        await Eventually.HoldsAsync(() => lanes.Values.Sum(found => found.Count) >= 2 * Keys, cancellationToken);

        Assert.That(lanes.Where(found => found.Value.Distinct().Count() > 1).Select(found => $"{found.Key}: {string.Join(", ", found.Value)}"), Is.Empty);

        async Task PublishAllAsync()
        {
            for (var key = 0; key < Keys; key++) await ConfirmAsync(Message("x") with { Key = $"k{key}" }, cancellationToken);
        }
    }

    [TestCase("stop")]
    [TestCase("kill")]
    [CancelAfter(120_000)]
    public async Task After_a_restart_everything_works_again_and_nothing_confirmed_is_lost(string how, CancellationToken cancellationToken)
    {
        await _transport.StartAsync(cancellationToken);
        var seen = new ConcurrentDictionary<string, bool>();
        var inbox = new Inbox(delivery =>
        {
            seen[delivery.Message.Body.ReadText()] = true;
            return Settlement.Done;
        });
        await using var subscription = await _transport.SubscribeAsync(Subscription() with { Concurrency = 4 }, inbox.HandleAsync, cancellationToken);
        var confirmed = new ConcurrentBag<string>();
        using var ending = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        var publishers = Enumerable.Range(0, 4).Select(publisher => PublishAsync($"{publisher}", confirmed, ending.Token)).ToList();
        await Eventually.HoldsAsync(() => confirmed.Count > 500, cancellationToken);

        await (how == "kill" ? _servers.KillAsync("rabbitmq") : _servers.StopAsync("rabbitmq"));
        await Eventually.HoldsAsync(() => !subscription.IsLive, cancellationToken);
        await _servers.StartAsync("rabbitmq");
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
        await _transport.StartAsync(cancellationToken);
        var seen = new ConcurrentQueue<int>();
        var inbox = new Inbox(delivery =>
        {
            seen.Enqueue(int.Parse(delivery.Message.Body.ReadText()));
            return Settlement.Done;
        });
        await using var subscription = await _transport.SubscribeAsync(Subscription() with { SingleActive = true, Prefetch = 50 }, inbox.HandleAsync, cancellationToken);

        var closing = CloseConnectionsAsync(times: 3, cancellationToken);
        var count = 0;
        for (; !closing.IsCompleted || count < 500; count++) await ConfirmAsync(Message($"{count}") with { Key = "one" }, cancellationToken);
        await closing;
        await Eventually.HoldsAsync(() => seen.Distinct().Count() == count, cancellationToken);

        // A repetition may come late, but the first time that each message is seen is in order.
        Assert.That(seen.Distinct(), Is.EqualTo(Enumerable.Range(0, count)));
    }

    [Test, CancelAfter(120_000)]
    public async Task A_handler_that_takes_long_does_not_keep_the_endpoint_from_coming_back(CancellationToken cancellationToken)
    {
        await _transport.StartAsync(cancellationToken);
        var tries = 0;
        var again = new TaskCompletionSource();
        await using var subscription = await _transport.SubscribeAsync(
            Subscription() with { SingleActive = true },
            async (_, aborted) =>
            {
                if (Interlocked.Increment(ref tries) == 1) await Task.Delay(Timeout.InfiniteTimeSpan, aborted);
                again.TrySetResult();
                return Settlement.Done;
            },
            cancellationToken);
        await ConfirmAsync(Message("stuck"), cancellationToken);
        await Eventually.HoldsAsync(() => tries == 1, cancellationToken);

        await _servers.ControlRabbitMqAsync("close_all_connections", "test");

        await again.Task.WaitAsync(cancellationToken);
        Assert.That(tries, Is.EqualTo(2));
    }

    [TestCase(true)]
    [TestCase(false)]
    [CancelAfter(90_000)]
    [Property("Case", "T-TMO-1")]
    public async Task A_delivery_held_beyond_the_acknowledgement_timeout_costs_its_channel_only(bool inOrder, CancellationToken cancellationToken)
    {
        await _servers.ControlRabbitMqAsync("eval", "application:set_env(rabbit, consumer_timeout, 3000), application:set_env(rabbit, channel_tick_interval, 500).");
        try
        {
            await _transport.StartAsync(cancellationToken);
            var (lost, begun) = (new TaskCompletionSource(), 0);
            var inbox = new Inbox();
            var subscription = await _transport.SubscribeAsync(
                Subscription() with { SingleActive = inOrder },
                async (delivery, aborted) =>
                {
                    if (Interlocked.Exchange(ref begun, 1) == 1) return await inbox.HandleAsync(delivery, aborted);
                    await using var noticing = delivery.Source.Lost.Register(lost.SetResult);
                    await Task.Delay(Timeout.InfiniteTimeSpan, aborted);
                    return Settlement.Done;
                },
                cancellationToken);
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
            Assert.That(_log.All, Has.Some.Contains("ESB-AMQP-ACKTIMEOUT").And.Contains("consumer_timeout"));
        }
        finally
        {
            await _servers.ControlRabbitMqAsync("eval", "application:set_env(rabbit, consumer_timeout, 1800000), application:set_env(rabbit, channel_tick_interval, 60000).");
        }
    }

    [Test, CancelAfter(120_000)]
    public async Task A_plug_in_that_is_missing_is_named_once_and_when_it_is_enabled_the_endpoint_goes_on(CancellationToken cancellationToken)
    {
        await _servers.ChangePluginsAsync("disable", "rabbitmq_consistent_hash_exchange");
        await _transport.StartAsync(cancellationToken);
        var (inbox, others) = (new Inbox(), new Inbox());

        await using var other = await _transport.SubscribeAsync(Subscription(), others.HandleAsync, cancellationToken);
        await using var lanes = await _transport.SubscribeAsync(Subscription() with { Lanes = 4, RetryDelays = [] }, inbox.HandleAsync, cancellationToken);
        var (isLive, reason) = (lanes.IsLive, lanes.Reason);
        await ConfirmAsync(Message("before"), cancellationToken);
        await others.NextAsync(cancellationToken);
        await _servers.ChangePluginsAsync("enable", "rabbitmq_consistent_hash_exchange");
        await Eventually.HoldsAsync(() => lanes.IsLive, cancellationToken);
        await ConfirmAsync(Message("after"), cancellationToken);

        Assert.That((await inbox.NextAsync(cancellationToken)).Message.Body.ReadText(), Is.EqualTo("after"));
        Assert.That(isLive, Is.False);
        Assert.That(reason, Does.StartWith("ESB-CFG-PLUGIN").And.Contains("rabbitmq-plugins enable rabbitmq_consistent_hash_exchange"));
        Assert.That(_log.All.Where(line => line.Contains("ESB-CFG-PLUGIN")), Has.Exactly(1).StartsWith("Error"));
    }

    [Test, CancelAfter(120_000)]
    [Property("Case", "AMQ-14")]
    public async Task A_password_corrected_on_the_broker_needs_no_restart_here(CancellationToken cancellationToken)
    {
        await _servers.ControlRabbitMqAsync("add_user", "esb", "old");
        await _servers.ControlRabbitMqAsync("set_permissions", "esb", ".*", ".*", ".*");
        await using var transport = new TestBroker(_servers.RabbitMq.Replace("guest:guest", "esb:new")).CreateTransport(Topics, loggers: _log.Factory);
        var inbox = new Inbox();

        await transport.StartAsync(cancellationToken);
        await using var subscription = await transport.SubscribeAsync(Subscription(), inbox.HandleAsync, cancellationToken);
        var status = transport.Status;
        await _servers.ControlRabbitMqAsync("change_password", "esb", "new");
        await Eventually.HoldsAsync(() => subscription.IsLive && transport.Status.IsReady, cancellationToken);
        await transport.PublishAsync(Message("1"), cancellationToken);
        await inbox.NextAsync(cancellationToken);
        await _servers.ControlRabbitMqAsync("change_password", "esb", "newer");
        await _servers.ControlRabbitMqAsync("close_all_connections", "test");
        await Eventually.HoldsAsync(() => !transport.Status.IsReady && !subscription.IsLive, cancellationToken);
        await _servers.ControlRabbitMqAsync("change_password", "esb", "new");
        await Eventually.HoldsAsync(() => subscription.IsLive && transport.Status.IsReady, cancellationToken);

        Assert.That(status.Reason, Does.StartWith("ESB-AMQP-AUTH"));
    }

    [Test, CancelAfter(120_000)]
    [Property("Case", "AMQ-12")]
    public async Task A_virtual_host_and_rights_that_come_later_need_no_restart_here(CancellationToken cancellationToken)
    {
        await using var transport = new TestBroker($"{_servers.RabbitMq}/later").CreateTransport(Topics, loggers: _log.Factory);

        await transport.StartAsync(cancellationToken);
        var missing = transport.Status.Reason;
        await _servers.ControlRabbitMqAsync("add_vhost", "later");
        await Eventually.HoldsAsync(() => transport.Status.Reason != missing, cancellationToken);
        var forbidden = transport.Status.Reason;
        await _servers.ControlRabbitMqAsync("set_permissions", "--vhost", "later", "guest", ".*", ".*", ".*");
        await Eventually.HoldsAsync(() => transport.Status.IsReady, cancellationToken);

        Assert.That(missing, Does.StartWith("ESB-AMQP-TOPOLOGY").And.Contain("later"));
        Assert.That(forbidden, Does.StartWith("ESB-AMQP-TOPOLOGY").And.Contain("later"));
        Assert.That((await transport.PublishAsync(Message("1"), cancellationToken)).Outcome, Is.EqualTo(PublishOutcome.Confirmed));
    }

    [Test, CancelAfter(60_000)]
    public async Task A_request_ends_when_the_connection_of_its_reply_is_lost(CancellationToken cancellationToken)
    {
        await _transport.StartAsync(cancellationToken);
        var inbox = new Inbox();
        await using var subscription = await _transport.SubscribeAsync(Subscription(), inbox.HandleAsync, cancellationToken);
        await Eventually.HoldsAsync(async () => (await _transport.PublishAsync(Message("ready"), cancellationToken)).Outcome == PublishOutcome.Confirmed, cancellationToken);
        await inbox.NextAsync(cancellationToken);

        var waiting = _transport.RequestAsync(Message("question"), TimeSpan.FromSeconds(50), cancellationToken);
        await inbox.NextAsync(cancellationToken);
        await _servers.ControlRabbitMqAsync("close_all_connections", "test");

        var failure = Assert.ThrowsAsync<EsbException>(() => waiting);
        Assert.That(failure!.Code, Is.EqualTo("ESB-TOPIC-UNKNOWN"));
    }

    [Test, CancelAfter(60_000)]
    public async Task A_broker_short_of_memory_refuses_at_once_and_goes_on_delivering(CancellationToken cancellationToken)
    {
        await _transport.StartAsync(cancellationToken);
        var gate = new TaskCompletionSource();
        var handled = 0;
        await using var subscription = await _transport.SubscribeAsync(
            Subscription(),
            async (_, _) =>
            {
                await gate.Task;
                Interlocked.Increment(ref handled);
                return Settlement.Done;
            },
            cancellationToken);
        for (var i = 0; i < 5; i++) await ConfirmAsync(Message($"{i}"), cancellationToken);
        await _servers.ControlRabbitMqAsync("set_vm_memory_high_watermark", "0");
        try
        {
            var unknown = await _transport.PublishAsync(Message("blocked"), cancellationToken);
            var refused = await _transport.PublishAsync(Message("refused"), cancellationToken);
            var status = _transport.Status; // publishing took longer than the 2 s that a block may last
            gate.SetResult();
            await Eventually.HoldsAsync(() => handled >= 5, cancellationToken);

            Assert.That((unknown.Outcome, refused.Outcome, status.IsReady), Is.EqualTo((PublishOutcome.Unknown, PublishOutcome.Refused, false)));
            Assert.That(status.Reason, Is.EqualTo("the broker blocks publishers: low on memory"));
        }
        finally
        {
            await _servers.ControlRabbitMqAsync("set_vm_memory_high_watermark", "0.4");
        }

        await ConfirmAsync(Message("again"), cancellationToken);
        Assert.That(subscription.IsLive, Is.True);
    }

    private static EsbMessage Message(string body) => EsbMessage.Create(MessageBody.FromText(body), TimeProvider.System) with { Subject = "orders.accepted" };

    private static Subscription Subscription() =>
        new($"endpoint-{Guid.NewGuid():N}"[..20], [SubjectPattern.Parse("orders.#")!], 1, 32, SingleActive: false, new QueueConfig(), [TimeSpan.FromSeconds(1)]);

    private async Task PublishAsync(string publisher, ConcurrentBag<string> confirmed, CancellationToken ending)
    {
        for (var i = 0; !ending.IsCancellationRequested; i++)
        {
            var message = Message($"{publisher}-{i}");
            if ((await _transport.PublishAsync(message, CancellationToken.None)).Outcome == PublishOutcome.Confirmed) confirmed.Add(message.Body.ReadText());
            else await Task.Delay(50, CancellationToken.None);
        }
    }

    private async Task ConfirmAsync(EsbMessage message, CancellationToken cancellationToken)
    {
        while ((await _transport.PublishAsync(message, cancellationToken)).Outcome != PublishOutcome.Confirmed) await Task.Delay(50, cancellationToken);
    }

    private async Task CloseConnectionsAsync(int times, CancellationToken cancellationToken)
    {
        for (var i = 0; i < times; i++)
        {
            await _servers.ControlRabbitMqAsync("close_all_connections", "test");
            await Eventually.HoldsAsync(() => _transport.Status.IsReady, cancellationToken);
        }
    }
}
