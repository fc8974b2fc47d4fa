using System.Net.Security;
using System.Net.Sockets;
using RabbitMQ.Client;

namespace Esb.Topics.RabbitMq.Connections;

/// <summary>The nodes that a connection tries. Each attempt begins with the next node, and continues with the others if a node is
/// unreachable. Thread-safe.</summary>
/// <remarks>The client continues only if no connection is established. A frozen node accepts the connection and does not respond: that
/// costs one attempt, as the next one begins at another node.</remarks>
/// <param name="nodes">All nodes.</param>
/// <param name="tls">The TLS options for the connection to a node; null without TLS.</param>
internal sealed class NodeRotation(IReadOnlyList<BrokerNode> nodes, Func<BrokerNode, SslClientAuthenticationOptions?> tls)
    : IEndpointResolver
{
    // The client passes only the address to a socket, not the host name that the certificate must match. It requests a node and creates its
    // socket in one execution flow.
    private readonly AsyncLocal<BrokerNode?> _node = new();
    private int _attempts = Random.Shared.Next(nodes.Count); // spreads hosts and their connections over the cluster

    public IEnumerable<AmqpTcpEndpoint> All()
    {
        var first = (int)((uint)Interlocked.Increment(ref _attempts) % (uint)nodes.Count);
        foreach (var node in nodes.Skip(first).Concat(nodes.Take(first)))
        {
            _node.Value = node;
            yield return new AmqpTcpEndpoint(node.Host, node.Port, new SslOption(), RabbitMqAddress.MaxMessageBytes);
        }
    }

    /// <summary>Creates a socket for the node that was requested last.</summary>
    public ITcpClient CreateSocket(AddressFamily family) =>
        new BrokerSocket(family, tls(_node.Value ?? throw new InvalidOperationException("A socket is made for a node of the rotation.")));
}
