using System.Collections.Concurrent;
using System.Diagnostics;
using Esb.Core.Messages;
using Esb.Core.Topics;
using Esb.IntegrationTests.Topics.Queues;
using Esb.Tests.Fakes;
using Esb.Topics.RabbitMq;
using Esb.Topics.RabbitMq.Wire;

namespace Esb.IntegrationTests.Topics;

/// <summary>Several hosts on one broker: they know each other, share lanes, and take over what one leaves.</summary>
[TestFixture]
public sealed class FarmTests
{
    private static readonly Dictionary<string, TopicConfig> Topics = new() { ["orders"] = new() };

    private readonly List<RabbitMqTransport> _hosts = [];
    private TestBroker _broker = null!;
    private TcpProxy _proxy = null!;

    [SetUp]
    public void PrepareBroker()
    {
        _broker = new TestBroker();
        _proxy = new TcpProxy(new Uri(Servers.RabbitMq));
    }

    [TearDown]
    public async Task StopHosts()
    {
        _proxy.Resume();
        foreach (var host in _hosts)
            await host.DisposeAsync();
        _hosts.Clear();
        await _proxy.DisposeAsync();
        await _broker.CleanUpAsync();
    }

    [Test, CancelAfter(60_000)]
    public async Task Hosts_know_each_other_until_one_stops(CancellationToken cancellationToken)
    {
        // on a clock that stands still nobody is missed for being silent
        var (left, right) = (await StartAsync(time: new ManualTime()), await StartAsync());
        await Eventually.HoldsAsync(() => left.Farm.Hosts.Count == 2 && right.Farm.Hosts.Count == 2, cancellationToken);
        var known = left.Farm.Hosts;

        await right.DisposeAsync();
        await Eventually.HoldsAsync(() => left.Farm.Hosts.Count == 1, cancellationToken); // it says goodbye

        Assert.That(known, Is.EquivalentTo(new[] { left.Farm.Self, right.Farm.Self }));
    }

    // After how long, is for FarmMembersTests: by a clock that no busy machine delays.
    [Test, CancelAfter(120_000)]
    public async Task A_host_that_is_gone_without_a_word_is_missed(CancellationToken cancellationToken)
    {
        var (left, right) = (await StartAsync(), await StartBehindProxyAsync());
        await Eventually.HoldsAsync(() => left.Farm.Hosts.Count == 2 && right.Farm.Hosts.Count == 2, cancellationToken);

        _proxy.Cut();
        await Eventually.HoldsAsync(() => left.Farm.Hosts.Count == 1, cancellationToken);

        Assert.That(left.Farm.Hosts.Single(), Is.EqualTo(left.Farm.Self));
        Assert.That(right.Farm.Hosts, Has.Count.EqualTo(2), "who hears nothing misses nobody");
    }

    [Test, CancelAfter(60_000)]
    public async Task A_command_reaches_every_host_in_order_and_one_that_fails_stops_none(CancellationToken cancellationToken)
    {
        var (left, right) = (await StartAsync(), await StartAsync());
        var heard = new ConcurrentQueue<(string Host, Guid From, int Number)>();
        using var atLeft = left.Farm.Subscribe<Pause>((from, command, _) => Hear("left", from, command));
        using var atRight = right.Farm.Subscribe<Pause>((from, command, _) => Hear("right", from, command));
        await Eventually.HoldsAsync(() => left.Farm.Hosts.Count == 2 && right.Farm.Hosts.Count == 2, cancellationToken);

        for (var i = 0; i < 5; i++)
            await left.Farm.BroadcastAsync(new Pause("orders-out", i), cancellationToken);
        await Eventually.HoldsAsync(() => heard.Count >= 10, cancellationToken);

        foreach (var host in new[] { "left", "right" })
            Assert.That(
                heard.Where(one => one.Host == host).Select(one => (one.From, one.Number)),
                Is.EqualTo(Enumerable.Range(0, 5).Select(i => (left.Farm.Self.Id, i))),
                host
            );

        Task Hear(string host, Guid from, Pause command)
        {
            heard.Enqueue((host, from, command.Number));
            return command.Number == 2 ? throw new InvalidOperationException("A bug.") : Task.CompletedTask;
        }
    }

    [TestCase(false), TestCase(true, Category = "Thorough")]
    [CancelAfter(120_000), Property("Case", "T-ORD-1")]
    public async Task Hosts_share_the_lanes_and_one_takes_over_all_when_the_other_is_gone(
        bool silently,
        CancellationToken cancellationToken
    )
    {
        var (left, right) = (await StartAsync(), await StartBehindProxyAsync());
        var log = new ConcurrentQueue<Handled>();
        var subscription = Lanes();
        await using var atLeft = await SubscribeAsync(left, "left", subscription, log);
        await using var atRight = await SubscribeAsync(right, "right", subscription, log);
        using var ending = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        var publishing = PublishAsync(left, keys: 40, ending.Token);
        await Eventually.HoldsAsync(() => ActiveLanes(log, "left") == 4 && ActiveLanes(log, "right") == 4, cancellationToken);

        var gone = Stopwatch.GetTimestamp();
        if (silently)
            _proxy.Silence();
        else
            _proxy.Cut();
        await Eventually.HoldsAsync(() => ActiveLanes(log, "left") == 8, cancellationToken);
        var took = Stopwatch.GetElapsedTime(gone);
        TestContext.Out.WriteLine($"all lanes here {took.TotalSeconds:0.0} s after the other host was gone");
        await ending.CancelAsync();
        var published = await publishing;
        await Eventually.HoldsAsync(() => log.Select(one => (one.Key, one.Number)).Distinct().Count() == published, cancellationToken);

        Assert.That(took, Is.LessThan(TimeSpan.FromSeconds(15)));
        foreach (var key in log.GroupBy(one => one.Key))
            Assert.That(key.Select(one => one.Number).Distinct(), Is.Ordered, key.Key);
    }

    [Test, CancelAfter(120_000)]
    public async Task A_host_that_joins_gets_its_share_and_gives_it_back_without_doubling_anything(CancellationToken cancellationToken)
    {
        var (left, right) = (await StartAsync(), await StartAsync());
        var log = new ConcurrentQueue<Handled>();
        var subscription = Lanes();
        await using var atLeft = await SubscribeAsync(left, "left", subscription, log);
        using var ending = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        var publishing = PublishAsync(left, keys: 40, ending.Token);
        await Eventually.HoldsAsync(() => ActiveLanes(log, "left") == 8, cancellationToken);

        var atRight = await SubscribeAsync(right, "right", subscription, log);
        await Eventually.HoldsAsync(() => ActiveLanes(log, "left") == 4 && ActiveLanes(log, "right") == 4, cancellationToken);
        await atRight.TuneAsync(1, 32, isPaused: true, cancellationToken);
        await Eventually.HoldsAsync(() => ActiveLanes(log, "left") == 8, cancellationToken);
        await atRight.TuneAsync(4, 8, isPaused: false, cancellationToken); // fewer on their way than what the others give back
        await Eventually.HoldsAsync(() => ActiveLanes(log, "left") == 4 && ActiveLanes(log, "right") == 4, cancellationToken);
        await atRight.DisposeAsync();
        await ending.CancelAsync();
        var published = await publishing;
        await Eventually.HoldsAsync(() => log.Count >= published, cancellationToken);

        Assert.That(log, Has.Count.EqualTo(published), "nothing twice");
        foreach (var key in log.GroupBy(one => one.Key))
            Assert.That(key.Select(one => one.Number), Is.Ordered, key.Key);
    }

    [Test, Category("Thorough"), CancelAfter(60_000)]
    public async Task A_host_that_hands_its_lanes_over_while_it_still_opens_them_gets_its_share(CancellationToken cancellationToken)
    {
        await using var proxy = new BrokerProxy(Servers.RabbitMq);
        var (left, right) = (await StartAsync(), await StartAsync(new TestBroker(proxy.Url, _broker.Prefix)));
        var subscription = Lanes() with { Lanes = 3 };
        var queues = _broker.Names.LanesOf(subscription).ToArray();
        await using var atLeft = await SubscribeAsync(left, "left", subscription, new());
        await Eventually.HoldsAsync(() => ConsumersKnownTo(right, subscription) == 1, cancellationToken);

        var opening = queues.Select(proxy.HoldNextConsume).ToArray();
        var subscribing = SubscribeAsync(right, "right", subscription, new());
        await Task.WhenAll(opening.Select(lane => lane.Arrived)).WaitAsync(cancellationToken);
        await atLeft.TuneAsync(concurrency: 2, prefetch: 16, isPaused: false, cancellationToken); // it begins anew: the others hand over

        // The last one is told so after the others, and comes again; then each of those, before the next one has begun to consume.
        var again = new List<HeldConsume>();
        for (var lane = queues.Length - 1; lane >= 0; lane--)
        {
            again.Add(proxy.HoldNextConsume(queues[lane]));
            opening[lane].Release();
            await again[^1].Arrived.WaitAsync(cancellationToken);
        }

        foreach (var lane in again)
            lane.Release();
        await using var atRight = await subscribing;

        await Eventually.HoldsAsync(() => ConsumersKnownTo(left, subscription) == 2, cancellationToken);
        Assert.That(atRight.IsLive, Is.True);
    }

    private static int ConsumersKnownTo(RabbitMqTransport host, Subscription subscription) =>
        host.Farm.Members.ReceiversOf(subscription.Endpoint).Count(receiver => receiver.Receiver.Epoch is not null);

    private static Subscription Lanes() =>
        new($"endpoint-{Guid.NewGuid():N}"[..20], [SubjectPattern.Parse("orders.#")!], 4, 16, SingleActive: false, new QueueConfig(), [])
        {
            Lanes = 8,
        };

    // Lanes of the last second, so that those of earlier do not count.
    private static int ActiveLanes(IEnumerable<Handled> log, string host)
    {
        var recently = Stopwatch.GetTimestamp() - Stopwatch.Frequency;
        return log.Where(one => one.At > recently).GroupBy(one => one.Lane).Count(lane => lane.MaxBy(one => one.At)!.Host == host);
    }

    private async Task<RabbitMqTransport> StartAsync(TestBroker? broker = null, TimeProvider? time = null)
    {
        var host = (broker ?? _broker).CreateTransport(Topics, time: time);
        _hosts.Add(host);
        await host.StartAsync(CancellationToken.None);
        return host;
    }

    private Task<RabbitMqTransport> StartBehindProxyAsync() => StartAsync(new TestBroker(_proxy.Address.ToString(), _broker.Prefix));

    private async Task<ITopicSubscription> SubscribeAsync(
        RabbitMqTransport host,
        string name,
        Subscription subscription,
        ConcurrentQueue<Handled> log
    )
    {
        _broker.Note(subscription);
        return await host.SubscribeAsync(
            subscription,
            async (delivery, aborted) =>
            {
                await Task.Delay(1, aborted);
                delivery.Source.Lost.ThrowIfCancellationRequested();
                log.Enqueue(
                    new Handled(
                        name,
                        delivery.Source.Lane,
                        delivery.Message.Key!,
                        int.Parse(delivery.Message.Body.ReadText()),
                        Stopwatch.GetTimestamp()
                    )
                );
                return Settlement.Done;
            },
            CancellationToken.None
        );
    }

    // The same number again until it is confirmed: a repetition is no new message.
    private static async Task<int> PublishAsync(RabbitMqTransport host, int keys, CancellationToken ending)
    {
        var count = 0;
        for (; !ending.IsCancellationRequested; count++)
        {
            var message = EsbMessage.Create(MessageBody.FromText($"{count}"), TimeProvider.System) with
            {
                Subject = "orders.accepted",
                Key = $"key-{count % keys}",
            };
            while ((await host.PublishAsync(message, CancellationToken.None)).Outcome != PublishOutcome.Confirmed)
                await Task.Delay(20, CancellationToken.None);
        }

        return count;
    }

    private sealed record Pause(string Endpoint, int Number);

    private sealed record Handled(string Host, int Lane, string Key, int Number, long At);
}
