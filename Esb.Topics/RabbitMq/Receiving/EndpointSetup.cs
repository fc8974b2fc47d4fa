using Esb.Core.Topics;
using RabbitMQ.Client;

namespace Esb.Topics.RabbitMq.Receiving;

/// <summary>Makes what an endpoint needs on the broker before it can be consumed.</summary>
internal sealed class EndpointSetup(RabbitMqTopology topology, QueueBindings bindings, ConnectionFactory factory)
{
    /// <param name="connection">Where it may open a channel.</param>
    /// <param name="subscription">The endpoint.</param>
    /// <param name="cancellationToken">Stops between two declarations; the next start goes on.</param>
    public async Task ApplyAsync(IConnection connection, Subscription subscription, CancellationToken cancellationToken)
    {
        if (subscription.Lanes is null)
        {
            await DeclareAsync(connection, subscription, cancellationToken);
            return;
        }

        // A broker without the plug-in for lanes closes the whole connection: so it is not the one that others work on.
        await using var own = await factory.CreateConnectionAsync(cancellationToken);
        await DeclareAsync(own, subscription, cancellationToken);
    }

    private async Task DeclareAsync(IConnection connection, Subscription subscription, CancellationToken cancellationToken)
    {
        await using var channel = await connection.CreateChannelAsync(cancellationToken: cancellationToken);
        await topology.DeclareEndpointAsync(channel, subscription, cancellationToken);
        await bindings.ApplyAsync(channel, subscription, cancellationToken);
    }
}
