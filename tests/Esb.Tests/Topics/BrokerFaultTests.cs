using System.Net.Sockets;
using Esb.Topics.RabbitMq;
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
        var failure = new BrokerUnreachableException(new AggregateException(new ConnectFailureException("nobody there", new SocketException((int)error))));

        Assert.That(BrokerFault.Describe(failure), Is.EqualTo(expected));
    }

    // As RabbitMQ 3.10, and 3.12 to 4.2, say it; and what the same code means otherwise.
    [TestCase("PRECONDITION_FAILED - consumer ack timed out on channel 1", "ESB-AMQP-ACKTIMEOUT: ")]
    [TestCase("PRECONDITION_FAILED - delivery acknowledgement on channel 1 timed out. Timeout value used: 60000 ms.", "ESB-AMQP-ACKTIMEOUT: ")]
    [TestCase("PRECONDITION_FAILED - inequivalent arg 'x-max-length' for queue 'q'", "ESB-CFG-QUEUEDRIFT: ")]
    public void Broker_that_waits_no_longer_for_an_acknowledgement_is_told_from_a_queue_that_exists_otherwise(string text, string expected) =>
        Assert.That(BrokerFault.Describe(new ShutdownEventArgs(ShutdownInitiator.Peer, 406, text)), Does.StartWith(expected).And.EndWith(text));
}
