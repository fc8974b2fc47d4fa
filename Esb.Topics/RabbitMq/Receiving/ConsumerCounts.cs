using Esb.Topics.RabbitMq.Connections;
using Esb.Topics.RabbitMq.Topology;
using RabbitMQ.Client;
using RabbitMQ.Client.Exceptions;

namespace Esb.Topics.RabbitMq.Receiving;

/// <summary>Asks the broker how many consumers queues have. Thread-safe.</summary>
/// <remarks>AMQP tells how many, not whose; and of a quorum queue with a single active consumer it leaves out those that wait their turn.</remarks>
internal sealed class ConsumerCounts(BrokerConnection connection)
{
    /// <summary>How many; null where it cannot be told.</summary>
    public async Task<uint?> CountAsync(string queue, CancellationToken stopping) =>
        (await CountAsync([queue], stopping)).TryGetValue(queue, out var consumers) ? consumers : null;

    /// <summary>How many each has, over one channel; without those of which it cannot be told: the connection that asks may be lost, and not the one that consumes.</summary>
    public async Task<IReadOnlyDictionary<string, uint>> CountAsync(IReadOnlyList<string> queues, CancellationToken stopping)
    {
        var counts = new Dictionary<string, uint>();
        if (connection.Current is not { } current) return counts;
        try
        {
            await CountAsync(current, queues, counts, stopping);
        }
        catch (Exception) when (!stopping.IsCancellationRequested)
        {
            // What is not counted yet cannot be told.
        }

        return counts;
    }

    private static async Task CountAsync(IConnection connection, IReadOnlyList<string> queues, Dictionary<string, uint> counts, CancellationToken stopping)
    {
        var channel = await connection.CreateChannelAsync(cancellationToken: stopping);
        try
        {
            foreach (var queue in queues)
            {
                if (!channel.IsOpen) // the broker closes one over a queue that is not there
                {
                    await channel.DisposeAsync();
                    channel = await connection.CreateChannelAsync(cancellationToken: stopping);
                }

                counts[queue] = await CountAsync(channel, queue, stopping);
            }
        }
        finally
        {
            await channel.DisposeAsync();
        }
    }

    private static async Task<uint> CountAsync(IChannel channel, string queue, CancellationToken stopping)
    {
        try
        {
            return (await channel.CountAsync(queue, stopping)).ConsumerCount;
        }
        catch (OperationInterruptedException ex) when (ex.ShutdownReason?.ReplyCode == Constants.NotFound)
        {
            return 0; // the queue was deleted
        }
    }
}
