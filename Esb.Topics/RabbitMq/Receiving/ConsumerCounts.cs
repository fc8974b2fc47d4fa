using Esb.Topics.RabbitMq.Connections;
using Esb.Topics.RabbitMq.Topology;
using RabbitMQ.Client;
using RabbitMQ.Client.Exceptions;

namespace Esb.Topics.RabbitMq.Receiving;

/// <summary>Queries the broker for the number of consumers of queues. Thread-safe.</summary>
/// <remarks>AMQP reports the number of consumers, not their owners. For a quorum queue with a single active consumer it omits the waiting
/// ones.</remarks>
internal sealed class ConsumerCounts(BrokerConnection connection)
{
    /// <summary>Returns the number of consumers; null if it is unknown.</summary>
    public async Task<uint?> CountAsync(string queue, CancellationToken stopping) =>
        (await CountAsync([queue], stopping)).TryGetValue(queue, out var consumers) ? consumers : null;

    /// <summary>Returns the number of consumers of each queue, over one channel. Unknown numbers are omitted: the querying connection may
    /// be lost while the consuming one is not.</summary>
    public async Task<IReadOnlyDictionary<string, uint>> CountAsync(IReadOnlyList<string> queues, CancellationToken stopping)
    {
        var counts = new Dictionary<string, uint>();
        if (connection.Current is not { } current)
            return counts;
        try
        {
            await CountAsync(current, queues, counts, stopping);
        }
        catch (Exception) when (!stopping.IsCancellationRequested)
        {
            // Queues that are not counted yet remain unknown.
        }

        return counts;
    }

    private static async Task CountAsync(
        IConnection connection,
        IReadOnlyList<string> queues,
        Dictionary<string, uint> counts,
        CancellationToken stopping
    )
    {
        var channel = await connection.CreateChannelAsync(cancellationToken: stopping);
        try
        {
            foreach (var queue in queues)
            {
                if (!channel.IsOpen) // the broker closes the channel if a queue does not exist
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
