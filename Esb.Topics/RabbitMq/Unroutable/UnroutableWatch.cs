using Esb.Topics.RabbitMq.Connections;
using Esb.Topics.RabbitMq.Topology;
using Esb.Topics.RabbitMq.Wire;
using Microsoft.Extensions.Logging;
using RabbitMQ.Client;
using RabbitMQ.Client.Events;

namespace Esb.Topics.RabbitMq.Unroutable;

/// <summary>Receives a copy of every message that found no queue, to count it and to warn; the message itself is kept on the
/// broker.</summary>
/// <remarks>All hosts share the copies, so that each is counted once. The broker itself reports nothing: an alternate exchange counts as a
/// destination.</remarks>
internal sealed class UnroutableWatch : IAsyncDisposable
{
    private readonly RabbitMqNames _names;
    private readonly RabbitMqTopology _topology;
    private readonly Func<string, string?> _findSubscriber;
    private readonly UnroutableMessages _messages;
    private readonly BrokerConsumer _consumer;

    public UnroutableWatch(
        BrokerConnection connection,
        RabbitMqNames names,
        RabbitMqTopology topology,
        Func<string, string?> findSubscriber,
        TimeProvider time,
        ILogger logger
    )
    {
        (_names, _topology, _findSubscriber, _messages) = (names, topology, findSubscriber, new UnroutableMessages(time, logger));
        _consumer = new BrokerConsumer(connection, DeclareAsync, DeliverAsync, time, logger);
    }

    public ValueTask DisposeAsync() => _consumer.DisposeAsync();

    private async Task<ConsumerQueue> DeclareAsync(IChannel channel, CancellationToken cancellationToken)
    {
        await _topology.DeclareNoticesAsync(channel, cancellationToken);
        return new ConsumerQueue(_names.UnroutableNotices, Prefetch: 0);
    }

    private Task DeliverAsync(IChannel channel, BasicDeliverEventArgs delivery, CancellationToken over)
    {
        if (delivery.BasicProperties.Headers.Text(WireHeaders.Again) is null)
            _messages.Count(delivery.RoutingKey, _findSubscriber(delivery.RoutingKey)); // a replay reports itself
        return Task.CompletedTask;
    }
}
