using System.Net.Sockets;
using Esb.Topics.RabbitMq.Connections;
using RabbitMQ.Client;
using RabbitMQ.Client.Events;
using RabbitMQ.Client.Exceptions;

namespace Esb.Tests.Topics;

public sealed class BrokerFaultTests
{
    [TestCase(SocketError.HostNotFound, "the broker's name cannot be resolved")]
    [TestCase(SocketError.TryAgain, "the broker's name cannot be resolved")]
    [TestCase(SocketError.ConnectionRefused, BrokerFault.Away)]
    public void What_keeps_a_connection_from_opening_is_told(SocketError error, string expected)
    {
        var failure = new BrokerUnreachableException(
            new AggregateException(new ConnectFailureException("nobody there", new SocketException((int)error)))
        );

        Assert.That(BrokerFault.Describe(failure), Is.EqualTo(expected));
    }

    [TestCase(
        "PRECONDITION_FAILED - delivery acknowledgement on channel 1 timed out. Timeout value used: 60000 ms.",
        "ESB-AMQP-ACKTIMEOUT",
        false
    )]
    [TestCase("PRECONDITION_FAILED - inequivalent arg 'x-queue-type' for queue 'q' in vhost '/'", "ESB-CFG-QUEUEDRIFT", true)]
    public void Channel_that_the_broker_closed_tells_a_late_acknowledgement_from_a_queue_that_differs(
        string text,
        string code,
        bool isForPeople
    )
    {
        var reason = BrokerFault.Describe(new ShutdownEventArgs(ShutdownInitiator.Peer, 406, text));

        Assert.That(reason, Does.StartWith($"{code}: "));
        Assert.That(BrokerFault.IsForPeople(reason), Is.EqualTo(isForPeople));
    }

    [TestCase(ShutdownInitiator.Peer, "the broker ended the connection with INTERNAL_ERROR; its log says why")]
    [TestCase(ShutdownInitiator.Library, BrokerFault.Away)]
    public void Connection_that_ended_by_a_fault_within_the_broker_tells_where_to_look(ShutdownInitiator initiator, string expected)
    {
        Assert.That(BrokerFault.Describe(new ShutdownEventArgs(initiator, 541, "INTERNAL_ERROR")), Is.EqualTo(expected));
    }
}
