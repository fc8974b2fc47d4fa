using System.Net.Sockets;
using Esb.Topics.RabbitMq;
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
}
