using Esb.Tests.Fakes;
using Esb.Topics.RabbitMq.Connections;
using Esb.Topics.RabbitMq.Receiving;
using Microsoft.Extensions.Logging.Abstractions;
using RabbitMQ.Client;
using RabbitMQ.Client.Events;
using RabbitMQ.Client.Exceptions;

namespace Esb.Tests.Topics.RabbitMq.Receiving;

/// <summary>When a host may say that it is ready, by what became of the attempts to declare a queue.</summary>
public sealed class ReceiverStateTests
{
    private readonly Backoff _backoff = new(new ManualTime());

    [Test]
    public void Queue_that_the_broker_refuses_was_tried()
    {
        var state = new ReceiverState("orders", NullLogger.Instance);

        state.IsInterrupted(
            new OperationInterruptedException(new ShutdownEventArgs(ShutdownInitiator.Peer, 403, "ACCESS_REFUSED")),
            isConnected: true,
            _backoff
        );

        Assert.That(state.FirstAttempt.IsCompleted, Is.True);
    }

    [Test]
    public void Queue_of_which_the_broker_says_nothing_was_not_tried_but_keeps_nobody_waiting_for_ever()
    {
        var state = new ReceiverState("orders", NullLogger.Instance);

        var tried = new List<bool>();
        for (var attempt = 0; attempt < 3; attempt++)
        {
            state.IsInterrupted(new TimeoutException(), isConnected: true, _backoff);
            tried.Add(state.FirstAttempt.IsCompleted);
        }

        Assert.That(tried, Is.EqualTo(new[] { false, false, true }));
    }

    [Test]
    public void Connection_that_is_lost_again_and_again_says_nothing_of_the_queue()
    {
        var state = new ReceiverState("orders", NullLogger.Instance);

        for (var attempt = 0; attempt < 10; attempt++)
            state.IsInterrupted(new TimeoutException(), isConnected: false, _backoff);

        Assert.That(state.FirstAttempt.IsCompleted, Is.False);
    }

    [Test]
    public void Queue_that_is_consumed_was_tried()
    {
        var state = new ReceiverState("orders", NullLogger.Instance);
        state.IsInterrupted(new TimeoutException(), isConnected: true, _backoff);

        state.Consumes();

        Assert.That((state.FirstAttempt.IsCompleted, state.Reason), Is.EqualTo((true, (string?)null)));
    }
}
