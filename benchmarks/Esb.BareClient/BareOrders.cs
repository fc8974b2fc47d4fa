using Npgsql;
using NpgsqlTypes;
using RabbitMQ.Client;
using RabbitMQ.Client.Events;

namespace Esb.BareClient;

/// <summary>Takes orders over HTTP, publishes them confirmed, and inserts them, one commit each.</summary>
internal sealed class BareOrders(IConnection publishing, IConnection consuming, NpgsqlDataSource database, BareSettings settings)
{
    public const string Queue = "bare.orders";

    private readonly IChannel[] _channels = new IChannel[4];
    private uint _next;

    public async Task StartAsync()
    {
        await using (var channel = await consuming.CreateChannelAsync())
            await channel.QueueDeclareAsync(Queue, durable: true, exclusive: false, autoDelete: false);
        for (var i = 0; i < _channels.Length; i++)
            _channels[i] = await publishing.CreateChannelAsync(
                new CreateChannelOptions(publisherConfirmationsEnabled: true, publisherConfirmationTrackingEnabled: true)
            );
    }

    public async Task<IResult> PublishAsync(HttpRequest request)
    {
        var body = new byte[(int)request.ContentLength!.Value];
        await request.Body.ReadExactlyAsync(body);
        var id = Guid.CreateVersion7();
        var properties = new BasicProperties
        {
            MessageId = id.ToString(),
            ContentType = request.ContentType,
            Persistent = true,
        };
        await _channels[Interlocked.Increment(ref _next) % _channels.Length]
            .BasicPublishAsync("", Queue, mandatory: true, properties, body);
        return Results.Accepted(null, new { messageId = id });
    }

    /// <summary>Begins to insert, until the channel is disposed.</summary>
    public async Task<IChannel> ConsumeAsync()
    {
        var channel = await consuming.CreateChannelAsync(
            new CreateChannelOptions(false, false, consumerDispatchConcurrency: settings.Concurrency)
        );
        var acks = new Acks(channel, settings.AckGroup);
        var consumer = new AsyncEventingBasicConsumer(channel);
        consumer.ReceivedAsync += async (_, delivery) =>
        {
            await InsertAsync(Guid.Parse(delivery.BasicProperties.MessageId!), delivery.Body.ToArray());
            await acks.DoneAsync(delivery.DeliveryTag);
        };
        await channel.BasicQosAsync(0, settings.Prefetch, global: false);
        await channel.BasicConsumeAsync(Queue, autoAck: false, consumer);
        return channel;
    }

    private async Task InsertAsync(Guid id, byte[] body)
    {
        await using var command = database.CreateCommand(
            "insert into orders_in (message_id, body) values ($1, $2) on conflict (message_id) do nothing"
        );
        command.Parameters.Add(new NpgsqlParameter<Guid> { TypedValue = id });
        command.Parameters.Add(
            new NpgsqlParameter { NpgsqlDbType = NpgsqlDbType.Unknown, Value = System.Text.Encoding.UTF8.GetString(body) }
        );
        await command.ExecuteNonQueryAsync();
    }
}
