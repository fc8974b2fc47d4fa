using Esb.Core.Topics;
using Esb.Topics.RabbitMq.Connections;
using Esb.Topics.RabbitMq.Topology;
using Esb.Topics.RabbitMq.Wire;
using RabbitMQ.Client;

namespace Esb.Topics.RabbitMq.Publishing;

/// <summary>Publishes over a few channels. Messages of one key always use the same channel, which keeps their order. Adds the user of this
/// host to each message, and signs what needs it. Thread-safe.</summary>
internal sealed class ConfirmedPublisher(BrokerConnection connection, BrokerUser user, WireSignature signature, TimeProvider time)
    : IAsyncDisposable
{
    private static readonly TimeSpan Deadline = TimeSpan.FromSeconds(10);

    private readonly ConfirmedChannel[] _channels = [.. Enumerable.Range(0, 4).Select(_ => new ConfirmedChannel(connection, time))];
    private uint _next;

    /// <summary>Publishes to an exchange.</summary>
    public ValueTask<PublishResult> PublishAsync(
        string exchange,
        string routingKey,
        string? key,
        BasicProperties properties,
        ReadOnlyMemory<byte> body
    ) => ChannelFor(key).PublishAsync(exchange, routingKey, mandatory: false, WithSlot(OfUser(properties, body), key), body, Deadline);

    /// <summary>Publishes to one queue; refused if the queue does not exist.</summary>
    /// <param name="queue">Its name.</param>
    /// <param name="properties">Not shared: the client adds headers.</param>
    /// <param name="body">The body as sent on the wire.</param>
    /// <param name="deadline">The time-out for the confirm; 10 s by default.</param>
    public ValueTask<PublishResult> SendAsync(
        string queue,
        BasicProperties properties,
        ReadOnlyMemory<byte> body,
        TimeSpan? deadline = null
    ) => ChannelFor(key: null).PublishAsync(exchange: "", queue, mandatory: true, OfUser(properties, body), body, deadline ?? Deadline);

    /// <summary>Publishes to one of the queues behind an exchange; refused if no queue exists. Messages of one key keep their
    /// order.</summary>
    public ValueTask<PublishResult> SendAsync(
        string exchange,
        string routingKey,
        string? key,
        BasicProperties properties,
        ReadOnlyMemory<byte> body
    ) =>
        ChannelFor(key)
            .PublishAsync(
                exchange,
                routingKey,
                mandatory: true,
                exchange.Length > 0 ? WithSlot(OfUser(properties, body), key) : OfUser(properties, body),
                body,
                Deadline
            );

    public async ValueTask DisposeAsync()
    {
        foreach (var channel in _channels)
            await channel.DisposeAsync();
    }

    private BasicProperties OfUser(BasicProperties properties, ReadOnlyMemory<byte> body)
    {
        properties.UserId = user.Name;
        return signature.Sign(properties, body.Span);
    }

    private static BasicProperties WithSlot(BasicProperties properties, string? key)
    {
        if (!string.IsNullOrEmpty(key))
            (properties.Headers ??= new Dictionary<string, object?>())[LaneSlots.Header] = LaneSlots.Of(key);
        return properties;
    }

    private ConfirmedChannel ChannelFor(string? key) =>
        _channels[
            (key is null ? Interlocked.Increment(ref _next) : (uint)string.GetHashCode(key, StringComparison.Ordinal))
                % (uint)_channels.Length
        ];
}
