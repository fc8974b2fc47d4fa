using Esb.Core.Topics;
using Esb.Tests.Fakes;
using Esb.Topics.RabbitMq.Receiving;
using Microsoft.Extensions.Logging.Abstractions;
using NSubstitute;
using RabbitMQ.Client;

namespace Esb.Tests.Topics.RabbitMq.Receiving;

[FixtureLifeCycle(LifeCycle.InstancePerTestCase)]
public sealed class LaneSessionTests
{
    private readonly ManualTime _time = new();
    private readonly IChannel _channel = Substitute.For<IChannel>();
    private readonly SemaphoreSlim _gate = new(0, 1); // the other lanes are at work
    private readonly List<TopicDelivery> _begun = [];

    [TearDown]
    public void CleanUp()
    {
        _channel.Dispose();
        _gate.Dispose();
    }

    [Test, CancelAfter(30_000)]
    public async Task Delivery_that_the_other_lanes_kept_waiting_for_long_is_not_begun_any_more(CancellationToken cancellationToken)
    {
        using var freezes = new FreezeWatch(_time);
        var session = new LaneSession(
            new Lane(0, "a-lane", Prefetch: 32),
            LaneWork.Of(BeginAsync, _time),
            _gate,
            freezes,
            _time,
            NullLogger.Instance
        );
        var running = session.RunAsync(ConnectionThatDelivers("<order/>"u8.ToArray()), () => { }, cancellationToken); // up to the gate

        _time.Advance(TimeSpan.FromMinutes(26)); // soon the broker would close the channel
        _gate.Release();
        await Eventually.HoldsAsync(() => _time.Waiting > 1 || running.IsCompleted, "it has looked at the delivery", cancellationToken);
        _time.Advance(TimeSpan.FromSeconds(1));

        Assert.That(await running, Is.True, "it lets go by itself");
        Assert.That(_begun, Is.Empty);
        await _channel.DidNotReceiveWithAnyArgs().BasicAckAsync(default, default, default);
        await _channel.ReceivedWithAnyArgs().CloseAsync(default(ushort), default!, default, default);
    }

    private ValueTask<Settlement> BeginAsync(TopicDelivery delivery, CancellationToken cancellationToken)
    {
        _begun.Add(delivery);
        return ValueTask.FromResult(Settlement.Done);
    }

    // The delivery is there before anybody waits for one.
    private IConnection ConnectionThatDelivers(byte[] body)
    {
        var connection = Substitute.For<IConnection>();
        connection.CreateChannelAsync(default, default).ReturnsForAnyArgs(_channel);
        _channel.IsOpen.Returns(true);
        _channel
            .BasicConsumeAsync(default!, default, default!, default, default, default, default!, default)
            .ReturnsForAnyArgs(async call =>
            {
                await call.Arg<IAsyncBasicConsumer>()
                    .HandleBasicDeliverAsync(
                        "tag",
                        1,
                        redelivered: false,
                        "esb.topics.orders",
                        "orders.accepted",
                        new BasicProperties(),
                        body
                    );
                return "tag";
            });
        return connection;
    }
}
