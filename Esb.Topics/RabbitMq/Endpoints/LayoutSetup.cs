using Esb.Core.Brokers;
using Esb.Topics.RabbitMq.Topology;
using RabbitMQ.Client;
using RabbitMQ.Client.Exceptions;

namespace Esb.Topics.RabbitMq.Endpoints;

/// <summary>Makes the missing exchanges, queues and bindings of endpoints. What exists stays as it is.</summary>
internal static class LayoutSetup
{
    private const long TemporaryQueueExpires = 5 * 60 * 1000;

    /// <exception cref="QueueDriftException">An exchange exists with another kind.</exception>
    /// <exception cref="OperationInterruptedException">Something is missing that is not to be made, or the user may not make or use
    /// it.</exception>
    public static async Task ApplyAsync(this IConnection connection, BrokerLayout layout, CancellationToken cancellationToken)
    {
        foreach (var exchange in layout.Exchanges)
            await ApplyAsync(connection, exchange, cancellationToken);
        if (layout.Queue is { } queue)
            await ApplyAsync(connection, queue, cancellationToken);
        if (layout.Bindings.Count == 0 && layout.Unbindings.Count == 0)
            return;
        await using var channel = await connection.CreateChannelAsync(cancellationToken: cancellationToken);
        foreach (var binding in layout.Bindings)
        {
            if (binding.IsToQueue)
                await channel.QueueBindAsync(binding.Target, binding.Source, binding.RoutingKey, cancellationToken: cancellationToken);
            else
                await channel.ExchangeBindAsync(binding.Target, binding.Source, binding.RoutingKey, cancellationToken: cancellationToken);
        }

        foreach (var binding in layout.Unbindings)
        {
            if (binding.IsToQueue)
                await channel.QueueUnbindAsync(binding.Target, binding.Source, binding.RoutingKey, cancellationToken: cancellationToken);
            else
                await channel.ExchangeUnbindAsync(binding.Target, binding.Source, binding.RoutingKey, cancellationToken: cancellationToken);
        }
    }

    private static async Task ApplyAsync(IConnection connection, BrokerExchange exchange, CancellationToken cancellationToken)
    {
        var exists = await connection.HasExchangeAsync(exchange.Name, cancellationToken);
        await using var channel = await connection.CreateChannelAsync(cancellationToken: cancellationToken);
        if (!exists && !exchange.IsMade)
            await channel.ExchangeDeclarePassiveAsync(exchange.Name, cancellationToken); // fails with the broker's own words
        if (exchange.Kind is not { } kind)
            return;
        try
        {
            // Of an existing exchange this changes nothing: the broker compares the kind.
            await channel.ExchangeDeclareAsync(
                exchange.Name,
                kind,
                durable: !exchange.IsTemporary,
                autoDelete: exchange.IsTemporary,
                cancellationToken: cancellationToken
            );
        }
        catch (OperationInterruptedException ex) when (exists && ex.ShutdownReason?.ReplyCode == Constants.PreconditionFailed)
        {
            throw new QueueDriftException(
                $"the exchange {exchange.Name} exists and is no durable exchange of the kind {kind}; nothing was changed "
                    + $"({ex.ShutdownReason.ReplyText})",
                ex
            );
        }
        catch (OperationInterruptedException ex) when (exists && ex.ShutdownReason?.ReplyCode == Constants.AccessRefused)
        {
            // A user who may not configure the exchange may use it: its kind cannot be compared.
        }
    }

    private static async Task ApplyAsync(IConnection connection, BrokerQueue queue, CancellationToken cancellationToken)
    {
        var exists = await connection.HasQueueAsync(queue.Name, cancellationToken);
        if (exists)
            return;
        await using var channel = await connection.CreateChannelAsync(cancellationToken: cancellationToken);
        if (!queue.IsMade)
            await channel.QueueDeclarePassiveAsync(queue.Name, cancellationToken);
        var arguments = queue.IsTemporary ? new Dictionary<string, object?> { ["x-expires"] = TemporaryQueueExpires } : null;
        await channel.QueueDeclareAsync(
            queue.Name,
            durable: true,
            exclusive: false,
            autoDelete: false,
            arguments,
            cancellationToken: cancellationToken
        );
    }
}
