using RabbitMQ.Client;
using RabbitMQ.Client.Exceptions;

namespace Esb.Topics.RabbitMq.Receiving;

/// <summary>Asks the broker how many consumers a queue has. Thread-safe.</summary>
/// <remarks>AMQP tells how many, not whose; and of a quorum queue with a single active consumer it leaves out those that wait their turn.</remarks>
internal sealed class ConsumerCounts(BrokerConnection connection)
{
    /// <summary>How many; null where it cannot be told: the connection that asks may be lost, and not the one that consumes.</summary>
    public async Task<uint?> CountAsync(string queue, CancellationToken stopping)
    {
        if (connection.Current is not { } current) return null;
        try
        {
            await using var channel = await current.CreateChannelAsync(cancellationToken: stopping);
            return (await channel.QueueDeclarePassiveAsync(queue, stopping)).ConsumerCount;
        }
        catch (OperationInterruptedException ex) when (ex.ShutdownReason?.ReplyCode == Constants.NotFound)
        {
            return 0; // the queue was deleted
        }
        catch (Exception) when (!stopping.IsCancellationRequested)
        {
            return null;
        }
    }
}
