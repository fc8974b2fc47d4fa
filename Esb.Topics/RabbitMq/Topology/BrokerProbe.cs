using RabbitMQ.Client;
using RabbitMQ.Client.Exceptions;

namespace Esb.Topics.RabbitMq.Topology;

/// <summary>Asks whether something exists, over a channel of its own: a no costs the channel.</summary>
internal static class BrokerProbe
{
    public static async Task<bool> HasQueueAsync(this IConnection connection, string queue, CancellationToken cancellationToken) =>
        await CountAsync(connection, queue, cancellationToken) is not null;

    /// <summary>How many messages wait in a queue and how many consumers it has; null where it does not exist.</summary>
    public static async Task<QueueDeclareOk?> CountAsync(this IConnection connection, string queue, CancellationToken cancellationToken)
    {
        await using var channel = await connection.CreateChannelAsync(cancellationToken: cancellationToken);
        try
        {
            return await channel.QueueDeclarePassiveAsync(queue, cancellationToken);
        }
        catch (OperationInterruptedException ex) when (ex.ShutdownReason?.ReplyCode == Constants.NotFound)
        {
            return null;
        }
    }

    public static async Task<bool> HasExchangeAsync(this IConnection connection, string exchange, CancellationToken cancellationToken)
    {
        await using var channel = await connection.CreateChannelAsync(cancellationToken: cancellationToken);
        try
        {
            await channel.ExchangeDeclarePassiveAsync(exchange, cancellationToken);
            return true;
        }
        catch (OperationInterruptedException ex) when (ex.ShutdownReason?.ReplyCode == Constants.NotFound)
        {
            return false;
        }
    }
}
