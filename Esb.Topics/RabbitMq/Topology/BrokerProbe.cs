using System.Diagnostics;
using Esb.Core.Topics;
using RabbitMQ.Client;
using RabbitMQ.Client.Exceptions;

namespace Esb.Topics.RabbitMq.Topology;

/// <summary>Checks whether a queue or exchange exists, over a separate channel: a negative response closes the channel.</summary>
internal static class BrokerProbe
{
    // For a quorum queue whose leader does not respond within 250 ms, the broker reports no messages and no consumers.
    private static readonly TimeSpan LeaderPatience = TimeSpan.FromMilliseconds(250);

    private const int MaxAsked = 4;

    public static async Task<bool> HasQueueAsync(this IConnection connection, string queue, CancellationToken cancellationToken) =>
        await CountAsync(connection, queue, cancellationToken) is not null;

    /// <summary>Returns the numbers of waiting messages and consumers of a queue; null if the queue does not exist.</summary>
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

    /// <summary>Returns the numbers of waiting messages and consumers of a queue. A slow response with zeros may be a guess: then the
    /// broker is queried again.</summary>
    /// <exception cref="OperationInterruptedException">The queue does not exist; the channel is closed.</exception>
    public static async Task<QueueDeclareOk> CountAsync(this IChannel channel, string queue, CancellationToken cancellationToken)
    {
        for (var asked = 1; ; asked++)
        {
            var began = Stopwatch.GetTimestamp();
            var count = await channel.QueueDeclarePassiveAsync(queue, cancellationToken);
            if (count is not { MessageCount: 0, ConsumerCount: 0 } || Stopwatch.GetElapsedTime(began) < LeaderPatience || asked == MaxAsked)
                return count;
        }
    }

    /// <summary>Returns the number of messages that wait for an endpoint, also for their next attempt.</summary>
    public static async Task<long> CountWaitingAsync(
        this IConnection connection,
        EndpointNames queues,
        Subscription subscription,
        CancellationToken cancellationToken
    )
    {
        var waiting = 0L;
        foreach (var queue in subscription.RetryDelays.Select(queues.Rung).Concat(queues.Lanes(subscription.Lanes)))
            waiting += (await connection.CountAsync(queue, cancellationToken))?.MessageCount ?? 0;
        return waiting;
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
