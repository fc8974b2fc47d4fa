using System.Net;

namespace Esb.Topics.RabbitMq.Connections;

/// <summary>The address of one broker: the only one, or a node of a cluster.</summary>
internal sealed record BrokerNode(string Host, int Port)
{
    public bool IsLoopback => Host == "localhost" || (IPAddress.TryParse(Host, out var address) && IPAddress.IsLoopback(address));
}
