using System.Net.Security;
using System.Net.Sockets;
using RabbitMQ.Client;

namespace Esb.Topics.RabbitMq.Connections;

/// <summary>The nodes that a connection tries: each attempt begins with the next one, and goes on to the others where a node cannot be
/// reached. Thread-safe.</summary>
/// <remarks>The client goes on only where no connection comes about. A frozen node takes it and says nothing: that costs one attempt, as
/// the next begins elsewhere.</remarks>
/// <param name="nodes">All of them.</param>
/// <param name="tls">How the connection to a node is secured; null where it is not.</param>
internal sealed class NodeRotation(IReadOnlyList<BrokerNode> nodes, Func<BrokerNode, SslClientAuthenticationOptions?> tls) : IEndpointResolver
{
    // The client tells a socket the address only, not the name that the certificate must be made out to. It asks for a node and makes its
    // socket in one flow.
    private readonly AsyncLocal<BrokerNode?> _node = new();
    private int _attempts = Random.Shared.Next(nodes.Count); // hosts and their connections spread over the cluster

    public IEnumerable<AmqpTcpEndpoint> All()
    {
        var first = (int)((uint)Interlocked.Increment(ref _attempts) % (uint)nodes.Count);
        foreach (var node in nodes.Skip(first).Concat(nodes.Take(first)))
        {
            _node.Value = node;
            yield return new AmqpTcpEndpoint(node.Host, node.Port, new SslOption(), RabbitMqAddress.MaxMessageBytes);
        }
    }

    /// <summary>A socket for the node that was asked for last.</summary>
    public ITcpClient CreateSocket(AddressFamily family) =>
        new BrokerSocket(family, tls(_node.Value ?? throw new InvalidOperationException("A socket is made for a node of the rotation.")));
}
