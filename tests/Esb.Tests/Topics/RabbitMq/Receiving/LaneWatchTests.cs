using System.Collections.Concurrent;
using Esb.Core.Topics;
using Esb.Tests.Fakes;
using Esb.Topics.RabbitMq.Receiving;
using Microsoft.Extensions.Logging.Abstractions;
using NSubstitute;
using RabbitMQ.Client;

namespace Esb.Tests.Topics.RabbitMq.Receiving;

/// <summary>A lane whose consumer the broker has lost, by what it answers to one look after the other.</summary>
[FixtureLifeCycle(LifeCycle.InstancePerTestCase)]
public sealed class LaneWatchTests
{
    private readonly ManualTime _time = new();
    private readonly SemaphoreSlim _gate = new(1, 1);
    private readonly CancellationTokenSource _stopping = new();
    private readonly ConcurrentQueue<IChannel> _channels = new();
    private readonly ConcurrentQueue<string> _lost = new();
    private readonly TaskCompletionSource _sent = new();
    private FreezeWatch _freezes = null!;
    private LaneConsumer _lane = null!;
    private Task _running = Task.CompletedTask;
    private int _looks;

    [TearDown]
    public async Task Stop()
    {
        _sent.TrySetResult();
        await _stopping.CancelAsync();
        await _running;
        _freezes.Dispose();
        _stopping.Dispose();
        _gate.Dispose();
    }

    [Test, CancelAfter(30_000)]
    public async Task Lane_that_nobody_consumes_at_two_looks_is_consumed_anew(CancellationToken cancellationToken)
    {
        await StartAsync([0, 0], delivers: false, cancellationToken);

        await LookAsync(cancellationToken);
        await Eventually.HoldsAsync(() => !_lane.IsLive, "it says so", cancellationToken);
        var afterOne = _channels.Count;
        await LookAsync(cancellationToken);
        await Eventually.HoldsAsync(() => _channels.Count == 2 && _lane.IsLive, "it consumes over another channel", cancellationToken);

        Assert.That(afterOne, Is.EqualTo(1), "it may be a moment in between");
        Assert.That(_lost, Is.EqualTo(new[] { "the consumer of a-lane was lost" }));
        await _channels.First().ReceivedWithAnyArgs(1).CloseAsync(default(ushort), default!, default, default);
    }

    [TestCase(0u, 1u, 0u, 1u), TestCase(null, null, null, null), TestCase(0u, null, 1u, 0u), CancelAfter(30_000)]
    public async Task Lane_that_somebody_consumes_in_between_or_nobody_can_tell_of_is_left_alone(
        uint? first,
        uint? second,
        uint? third,
        uint? fourth,
        CancellationToken cancellationToken
    )
    {
        await StartAsync([first, second, third, fourth], delivers: false, cancellationToken);

        for (var i = 0; i < 5; i++)
            await LookAsync(cancellationToken); // the last shows that the others are over

        Assert.That((_channels.Count, _lost.Count), Is.EqualTo((1, 0)));
    }

    [Test, CancelAfter(30_000)]
    public async Task Delivery_under_way_is_settled_over_the_channel_that_it_came_by_before_another_is_opened(
        CancellationToken cancellationToken
    )
    {
        await StartAsync([0, 0], delivers: true, cancellationToken);

        await LookAsync(cancellationToken);
        await LookAsync(cancellationToken);
        await Eventually.HoldsAsync(() => !_lost.IsEmpty, "it is found out", cancellationToken);
        var during = _channels.Count;
        _sent.SetResult();
        await Eventually.HoldsAsync(() => _channels.Count == 2, "it consumes over another channel", cancellationToken);

        Assert.That(during, Is.EqualTo(1));
        await _channels.First().ReceivedWithAnyArgs(1).BasicAckAsync(default, default, default);
    }

    private async Task StartAsync(uint?[] counts, bool delivers, CancellationToken cancellationToken)
    {
        _freezes = new FreezeWatch(_time);
        var connection = Substitute.For<IConnection>();
        connection.IsOpen.Returns(true);
        connection.CreateChannelAsync(default, default).ReturnsForAnyArgs(_ => Channel(delivers && _channels.IsEmpty));
        _lane = new LaneConsumer(
            () => new Lane(0, "a-lane", Prefetch: 32),
            LaneWork.Of(SendAsync, _time),
            _gate,
            _freezes,
            _time,
            NullLogger.Instance
        );
        var watch = new LaneWatch(
            [_lane],
            (queues, _) => Task.FromResult<IReadOnlyDictionary<string, uint>>(Answer(queues, counts)),
            _lost.Enqueue,
            _time
        );
        _running = Task.WhenAll(_lane.RunAsync(connection, _ => { }, _stopping.Token), watch.RunAsync(_stopping.Token));
        await Eventually.HoldsAsync(() => _lane.IsLive && (!delivers || _gate.CurrentCount == 0), "it consumes", cancellationToken);
    }

    // One for each look; after the last, as it should be.
    private Dictionary<string, uint> Answer(IReadOnlyList<string> queues, uint?[] counts)
    {
        var consumers = _looks < counts.Length ? counts[_looks] : 1;
        _looks++;
        return consumers is { } known ? queues.ToDictionary(queue => queue, _ => known) : [];
    }

    private async Task LookAsync(CancellationToken cancellationToken)
    {
        var before = _looks;
        _time.Advance(TimeSpan.FromSeconds(3));
        await Eventually.HoldsAsync(() => _looks > before, "it looks", cancellationToken);
    }

    private IChannel Channel(bool delivers)
    {
        var channel = Substitute.For<IChannel>();
        channel.IsOpen.Returns(true);
        channel
            .BasicConsumeAsync(default!, default, default!, default, default, default, default!, default)
            .ReturnsForAnyArgs(async call =>
            {
                if (delivers)
                    await call.Arg<IAsyncBasicConsumer>()
                        .HandleBasicDeliverAsync(
                            "tag",
                            1,
                            redelivered: false,
                            "esb.topics.orders",
                            "orders.accepted",
                            new BasicProperties(),
                            "<order/>"u8.ToArray()
                        );
                return "tag";
            });
        _channels.Enqueue(channel);
        return channel;
    }

    private async ValueTask<Settlement> SendAsync(TopicDelivery delivery, CancellationToken cancellationToken)
    {
        await _sent.Task.WaitAsync(cancellationToken);
        return Settlement.Done;
    }
}
