using Esb.Topics.RabbitMq.Connections;
using Esb.Topics.RabbitMq.Wire;
using RabbitMQ.Client;

namespace Esb.Topics.RabbitMq.Unroutable;

/// <summary>Detects messages that find no queue while it listens. A broker with an alternate exchange returns nothing and confirms
/// everything; it routes a message, to this queue too, before it confirms.</summary>
internal sealed class UnroutableEcho : IAsyncDisposable
{
    private readonly IChannel _channel;
    private readonly string _queue;

    private UnroutableEcho(IChannel channel, string queue) => (_channel, _queue) = (channel, queue);

    public static async Task<UnroutableEcho> OpenAsync(IConnection connection, RabbitMqNames names, CancellationToken cancellationToken)
    {
        var channel = await connection.CreateChannelAsync(cancellationToken: cancellationToken);
        var queue = await channel.QueueDeclareAsync(
            "",
            durable: false,
            exclusive: true,
            autoDelete: true,
            cancellationToken: cancellationToken
        );
        await channel.QueueBindAsync(queue.QueueName, names.Unroutable, "", cancellationToken: cancellationToken);
        return new UnroutableEcho(channel, queue.QueueName);
    }

    /// <summary>True if a confirmed message with this token found no queue.</summary>
    public async Task<bool> HeardAsync(string token, CancellationToken cancellationToken)
    {
        var wasHeard = false;
        while (await _channel.BasicGetAsync(_queue, autoAck: true, cancellationToken) is { } copy)
            wasHeard |= copy.BasicProperties.Headers.Text(WireHeaders.Again) == token;
        return wasHeard;
    }

    public async ValueTask DisposeAsync()
    {
        if (_channel.IsOpen)
            await _channel.QueueDeleteAsync(_queue, ifUnused: false, ifEmpty: false);
        await _channel.DisposeAsync();
    }
}
