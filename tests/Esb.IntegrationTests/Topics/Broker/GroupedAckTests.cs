using System.Collections.Concurrent;
using Esb.Core.Messages;
using Esb.Core.Topics;
using Esb.Topics.RabbitMq;

namespace Esb.IntegrationTests.Topics.Broker;

/// <summary>Deliveries that are acknowledged together: none too early, none never.</summary>
[TestFixture]
public sealed class GroupedAckTests
{
    private static readonly Dictionary<string, TopicConfig> Topics = new() { ["orders"] = new() };

    private readonly Subscription _subscription = new(
        "ledger",
        [SubjectPattern.Parse("orders.#")!],
        8,
        32,
        SingleActive: false,
        new QueueConfig(),
        []
    );
    private TestBroker _broker = null!;

    [SetUp]
    public void NameQueues()
    {
        _broker = new TestBroker();
        _broker.Note(_subscription);
    }

    [TearDown]
    public Task CleanUp() => _broker.CleanUpAsync();

    [Test, CancelAfter(60_000)]
    public async Task Slow_delivery_does_not_hold_up_more_than_its_own_place(CancellationToken cancellationToken)
    {
        await using var transport = await StartAsync(cancellationToken);
        var (slow, seen) = (new TaskCompletionSource(), new ConcurrentDictionary<string, int>());
        await using var running = await transport.SubscribeAsync(
            _subscription,
            async (delivery, _) =>
            {
                var text = delivery.Message.Body.ReadText();
                if (text == "0")
                    await slow.Task;
                seen.AddOrUpdate(text, 1, (_, count) => count + 1);
                return Settlement.Done;
            },
            cancellationToken
        );

        await PublishAsync(transport, 0, 200, cancellationToken);
        await Eventually.HoldsAsync(() => seen.Count == 199, cancellationToken); // far beyond the prefetch, so they were acknowledged
        slow.SetResult();
        await Eventually.HoldsAsync(() => seen.Count == 200, cancellationToken);
        await running.DisposeAsync();

        Assert.That(seen.Values, Is.All.EqualTo(1));
        Assert.That(await CountAsync(cancellationToken), Is.Zero, "all of them were acknowledged");
    }

    [Test, CancelAfter(60_000)]
    public async Task What_was_done_and_not_acknowledged_when_its_host_went_comes_again_and_nothing_else(
        CancellationToken cancellationToken
    )
    {
        await using var proxy = new TcpProxy(new Uri(Servers.RabbitMq));
        await using var lost = await StartAsync(cancellationToken, proxy.Address.ToString());
        await using var other = await StartAsync(cancellationToken);
        var inbox = new Inbox();
        await using var dying = await lost.SubscribeAsync(
            _subscription,
            (delivery, token) =>
            {
                if (delivery.Message.Body.ReadText() == "5")
                    proxy.Silence(); // it is done, and the broker never hears of it
                return inbox.HandleAsync(delivery, token);
            },
            cancellationToken
        );
        await Eventually.HoldsAsync(() => dying.IsLive, cancellationToken);

        await PublishAsync(other, 0, 5, cancellationToken);
        await inbox.NextAsync(5, cancellationToken);
        await Task.Delay(TimeSpan.FromMilliseconds(500), cancellationToken); // a group is late by 10 ms at most
        await PublishAsync(other, 5, 1, cancellationToken);
        await inbox.NextAsync(cancellationToken);
        proxy.Cut();
        var survivor = new Inbox();
        await using var taking = await other.SubscribeAsync(_subscription, survivor.HandleAsync, cancellationToken);
        await PublishAsync(other, 6, 1, cancellationToken);
        var again = await survivor.NextAsync(2, cancellationToken);

        Assert.That(again.Select(delivery => delivery.Message.Body.ReadText()), Is.EquivalentTo(["5", "6"]));
        Assert.That(again.Single(delivery => delivery.Message.Body.ReadText() == "5").Redeliveries, Is.GreaterThan(0));
    }

    private async Task<RabbitMqTransport> StartAsync(CancellationToken cancellationToken, string? url = null)
    {
        var transport = _broker.CreateTransport(Topics, url: url);
        await transport.StartAsync(cancellationToken);
        return transport;
    }

    private static async Task PublishAsync(RabbitMqTransport transport, int first, int count, CancellationToken cancellationToken)
    {
        for (var number = first; number < first + count; number++)
        {
            var message = EsbMessage.Create(MessageBody.FromText($"{number}"), TimeProvider.System) with { Subject = "orders.accepted" };
            Assert.That((await transport.PublishAsync(message, cancellationToken)).Outcome, Is.EqualTo(PublishOutcome.Confirmed));
        }
    }

    private async Task<uint> CountAsync(CancellationToken cancellationToken)
    {
        await using var connection = await _broker.ConnectAsync();
        await using var channel = await connection.CreateChannelAsync(cancellationToken: cancellationToken);
        return (await channel.QueueDeclarePassiveAsync(_broker.Names.Endpoint(_subscription.Endpoint), cancellationToken)).MessageCount;
    }
}
