using RabbitMQ.Client;

namespace Esb.Topics.RabbitMq;

/// <summary>The nodes that a connection tries: each attempt begins with the next one, and goes on to the others where a node cannot be reached. Thread-safe.</summary>
/// <remarks>The client goes on only where no connection comes about. A frozen node takes it and says nothing: that costs one attempt, as the next begins elsewhere.</remarks>
internal sealed class NodeRotation(IReadOnlyList<AmqpTcpEndpoint> nodes) : IEndpointResolver
{
    private int _attempts = Random.Shared.Next(nodes.Count); // hosts and their connections spread over the cluster

    public IEnumerable<AmqpTcpEndpoint> All()
    {
        var first = (int)((uint)Interlocked.Increment(ref _attempts) % (uint)nodes.Count);
        return nodes.Skip(first).Concat(nodes.Take(first));
    }
}
