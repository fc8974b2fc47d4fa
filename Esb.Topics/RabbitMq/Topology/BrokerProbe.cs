using System.Diagnostics;
using RabbitMQ.Client;
using RabbitMQ.Client.Exceptions;

namespace Esb.Topics.RabbitMq.Topology;

/// <summary>Asks whether something exists, over a channel of its own: a no costs the channel.</summary>
internal static class BrokerProbe
{
    // Of a quorum queue whose leader does not answer within 250 ms the broker says that nothing is in it and nobody consumes it.
    private static readonly TimeSpan LeaderPatience = TimeSpan.FromMilliseconds(250);

    private const int MaxAsked = 4;

    public static async Task<bool> HasQueueAsync(this IConnection connection, string queue, CancellationToken cancellationToken) =>
        await CountAsync(connection, queue, cancellationToken) is not null;

    /// <summary>How many messages wait in a queue and how many consumers it has; null where it does not exist.</summary>
    public static async Task<QueueDeclareOk?> CountAsync(this IConnection connection, string queue, CancellationToken cancellationToken)
    {
        await using var channel = await connection.CreateChannelAsync(cancellationToken: cancellationToken);
        try
        {
            return await channel.CountAsync(queue, cancellationToken);
        }
        catch (OperationInterruptedException ex) when (ex.ShutdownReason?.ReplyCode == Constants.NotFound)
        {
            return null;
        }
    }

    /// <summary>How many messages wait in a queue and how many consumers it has. An answer of nothing at all that took long may be a guess: then the broker is asked again.</summary>
    /// <exception cref="OperationInterruptedException">The queue does not exist; the channel is closed.</exception>
    public static async Task<QueueDeclareOk> CountAsync(this IChannel channel, string queue, CancellationToken cancellationToken)
    {
        for (var asked = 1; ; asked++)
        {
            var began = Stopwatch.GetTimestamp();
            var count = await channel.QueueDeclarePassiveAsync(queue, cancellationToken);
            if (count is not { MessageCount: 0, ConsumerCount: 0 } || Stopwatch.GetElapsedTime(began) < LeaderPatience || asked == MaxAsked) return count;
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
