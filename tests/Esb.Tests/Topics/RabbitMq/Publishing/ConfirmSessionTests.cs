using Esb.Core.Topics;
using Esb.Tests.Fakes;
using Esb.Topics.RabbitMq.Connections;
using Esb.Topics.RabbitMq.Publishing;
using Microsoft.Extensions.Logging.Abstractions;
using NSubstitute;
using RabbitMQ.Client;
using RabbitMQ.Client.Events;

namespace Esb.Tests.Topics.RabbitMq.Publishing;

[FixtureLifeCycle(LifeCycle.InstancePerTestCase)]
public sealed class ConfirmSessionTests
{
    private readonly ManualTime _time = new();
    private readonly IChannel _channel = Substitute.For<IChannel>();
    private readonly IConnection _connection = Substitute.For<IConnection>();
    private readonly List<BasicProperties> _sent = [];
    private BrokerLink _link = null!;
    private ConfirmSession _session = null!;

    [SetUp]
    public async Task Open()
    {
        _connection.IsOpen.Returns(true);
        _connection.CreateChannelAsync(default, default).ReturnsForAnyArgs(_channel);
        _channel.IsOpen.Returns(true);
        _channel
            .BasicPublishAsync("", "", default, default(BasicProperties)!, default, default)
            .ReturnsForAnyArgs(call => Take(call.Arg<BasicProperties>()));
        _link = new BrokerLink(_connection, _time, NullLogger.Instance);
        _session = await ConfirmSession.OpenAsync(_link, _time);
    }

    [TearDown]
    public async Task CleanUp()
    {
        await _session.DisposeAsync();
        _channel.Dispose();
        _connection.Dispose();
    }

    [Test, CancelAfter(30_000)]
    public async Task Each_publish_waits_for_its_own_confirm(CancellationToken cancellationToken)
    {
        var (first, second) = (Publish(), Publish());

        Ack(2);

        Assert.That((await second.WaitAsync(cancellationToken)).Outcome, Is.EqualTo(PublishOutcome.Confirmed));
        Assert.That(first.IsCompleted, Is.False);
    }

    [Test, CancelAfter(30_000)]
    public async Task Confirm_of_several_means_all_up_to_it_whatever_came_between(CancellationToken cancellationToken)
    {
        Task<PublishResult>[] publishes = [Publish(), Publish(), Publish(), Publish(), Publish()];

        Ack(5);
        Nack(3, multiple: true);
        Ack(4, multiple: true);

        var outcomes = await Task.WhenAll(publishes).WaitAsync(cancellationToken);
        Assert.That(
            outcomes.Select(result => result.Outcome),
            Is.EqualTo([
                PublishOutcome.Refused,
                PublishOutcome.Refused,
                PublishOutcome.Refused,
                PublishOutcome.Confirmed,
                PublishOutcome.Confirmed,
            ])
        );
    }

    [Test, CancelAfter(30_000)]
    public async Task Message_that_finds_no_queue_is_refused_although_it_is_confirmed(CancellationToken cancellationToken)
    {
        var (kept, lost) = (Publish(mandatory: true), Publish(mandatory: true));

        _channel.BasicReturnAsync += Raise.Event<AsyncEventHandler<BasicReturnEventArgs>>(
            _channel,
            new BasicReturnEventArgs(312, "NO_ROUTE", "", "nowhere", _sent[1], ReadOnlyMemory<byte>.Empty)
        );
        Ack(2, multiple: true);

        Assert.That(await lost.WaitAsync(cancellationToken), Is.SameAs(ConfirmedChannel.NoQueue));
        Assert.That((await kept.WaitAsync(cancellationToken)).Outcome, Is.EqualTo(PublishOutcome.Confirmed));
    }

    [Test]
    public void Message_that_nobody_must_take_goes_without_a_number()
    {
        _ = Publish();

        Assert.That(_sent[0].Headers, Is.Null);
    }

    [Test, CancelAfter(5_000)]
    public async Task Confirm_that_does_not_come_in_time_is_unknown_and_a_late_one_changes_nothing(CancellationToken cancellationToken)
    {
        var publish = Publish();

        _time.Advance(TimeSpan.FromSeconds(9));
        Assert.That(publish.IsCompleted, Is.False);
        _time.Advance(TimeSpan.FromSeconds(1.25));
        Ack(1);

        Assert.That((await publish.WaitAsync(cancellationToken)).Outcome, Is.EqualTo(PublishOutcome.Unknown));
        Assert.That(_session.IsOpen, Is.True);
    }

    [Test, CancelAfter(30_000)]
    public async Task Channel_that_is_lost_leaves_what_is_outstanding_unknown(CancellationToken cancellationToken)
    {
        var publish = Publish();

        _channel.ChannelShutdownAsync += Raise.Event<AsyncEventHandler<ShutdownEventArgs>>(
            _channel,
            new ShutdownEventArgs(ShutdownInitiator.Peer, 404, "NOT_FOUND")
        );

        Assert.That((await publish.WaitAsync(cancellationToken)).Outcome, Is.EqualTo(PublishOutcome.Unknown));
        Assert.That((await Publish().WaitAsync(cancellationToken)).Outcome, Is.EqualTo(PublishOutcome.Unknown));
        Assert.That(_session.IsOpen, Is.False);
    }

    [Test, CancelAfter(30_000)]
    public async Task Publish_that_fails_in_the_client_ends_the_channel_as_nobody_knows_what_was_counted(
        CancellationToken cancellationToken
    )
    {
        var before = Publish();
        _channel
            .BasicPublishAsync("", "", default, default(BasicProperties)!, default, default)
            .ReturnsForAnyArgs(ValueTask.FromException(new InvalidOperationException("too large")));

        var failed = Publish();

        var outcomes = await Task.WhenAll(before, failed).WaitAsync(cancellationToken);
        Assert.That(outcomes.Select(result => result.Outcome), Is.All.EqualTo(PublishOutcome.Unknown));
        Assert.That(_session.IsOpen, Is.False);
    }

    [Test, CancelAfter(30_000)]
    public async Task Connection_is_given_up_when_nothing_is_confirmed_any_more(CancellationToken cancellationToken)
    {
        Task<PublishResult>[] publishes = [Publish(), Publish()];

        _time.Advance(TimeSpan.FromSeconds(11));

        await Task.WhenAll(publishes).WaitAsync(cancellationToken);
        Assert.That(_link.IsOpen, Is.False);
    }

    [Test, CancelAfter(30_000)]
    public async Task Queue_that_does_not_answer_costs_no_connection_while_others_are_confirmed(CancellationToken cancellationToken)
    {
        Task<PublishResult>[] stuck = [Publish(), Publish(), Publish()];
        _time.Advance(TimeSpan.FromSeconds(5));
        var kept = Publish();
        Ack(4);

        _time.Advance(TimeSpan.FromSeconds(6));

        var outcomes = await Task.WhenAll([.. stuck, kept]).WaitAsync(cancellationToken);
        Assert.That(
            outcomes.Select(result => result.Outcome),
            Is.EqualTo([PublishOutcome.Unknown, PublishOutcome.Unknown, PublishOutcome.Unknown, PublishOutcome.Confirmed])
        );
        Assert.That(_link.IsOpen, Is.True);
    }

    private Task<PublishResult> Publish(bool mandatory = false) =>
        _session.PublishAsync(
            "",
            "a-queue",
            mandatory,
            new BasicProperties(),
            ReadOnlyMemory<byte>.Empty,
            _time.GetTimestamp(),
            TimeSpan.FromSeconds(10)
        );

    private ValueTask Take(BasicProperties properties)
    {
        _sent.Add(properties);
        return ValueTask.CompletedTask;
    }

    private void Ack(ulong number, bool multiple = false) =>
        _channel.BasicAcksAsync += Raise.Event<AsyncEventHandler<BasicAckEventArgs>>(_channel, new BasicAckEventArgs(number, multiple));

    private void Nack(ulong number, bool multiple) =>
        _channel.BasicNacksAsync += Raise.Event<AsyncEventHandler<BasicNackEventArgs>>(
            _channel,
            new BasicNackEventArgs(number, multiple, requeue: false)
        );
}
