using System.Collections.Concurrent;
using System.Text.Json;
using Npgsql;
using RabbitMQ.Client;
using RabbitMQ.Client.Events;

namespace Esb.BareClient;

/// <summary>Asks for customers over the broker: HTTP, a transient request, a query of 20 rows, a reply to one queue of this
/// process.</summary>
internal sealed class BareCustomers(IConnection publishing, IConnection consuming, NpgsqlDataSource database, BareSettings settings)
{
    private const string Queue = "bare.customers";

    private readonly ConcurrentDictionary<string, TaskCompletionSource<byte[]>> _waiting = new();
    private readonly IChannel[] _channels = new IChannel[4];
    private string _replies = "";
    private uint _next;

    private IChannel Channel => _channels[Interlocked.Increment(ref _next) % _channels.Length];

    public async Task StartAsync()
    {
        for (var i = 0; i < _channels.Length; i++)
            _channels[i] = await publishing.CreateChannelAsync(
                new CreateChannelOptions(publisherConfirmationsEnabled: true, publisherConfirmationTrackingEnabled: true)
            );
        await ReceiveRepliesAsync();
        await AnswerAsync();
    }

    public async Task<IResult> AskAsync(HttpRequest request)
    {
        var body = new byte[(int)request.ContentLength!.Value];
        await request.Body.ReadExactlyAsync(body);
        var id = Guid.CreateVersion7().ToString();
        var reply = _waiting[id] = new TaskCompletionSource<byte[]>(TaskCreationOptions.RunContinuationsAsynchronously);
        await Channel.BasicPublishAsync("", Queue, mandatory: true, new BasicProperties { MessageId = id, ReplyTo = _replies }, body);
        return Results.Bytes(await reply.Task, "application/json");
    }

    private async Task ReceiveRepliesAsync()
    {
        var channel = await consuming.CreateChannelAsync();
        _replies = await channel.QueueDeclareAsync("", durable: false, exclusive: true, autoDelete: true);
        var consumer = new AsyncEventingBasicConsumer(channel);
        consumer.ReceivedAsync += (_, delivery) =>
        {
            if (_waiting.TryRemove(delivery.BasicProperties.CorrelationId!, out var waiting))
                waiting.SetResult(delivery.Body.ToArray());
            return Task.CompletedTask;
        };
        await channel.BasicConsumeAsync(_replies, autoAck: true, consumer);
    }

    private async Task AnswerAsync()
    {
        var channel = await consuming.CreateChannelAsync(
            new CreateChannelOptions(false, false, consumerDispatchConcurrency: settings.Concurrency)
        );
        await channel.QueueDeclareAsync(Queue, durable: true, exclusive: false, autoDelete: false);
        var acks = new Acks(channel, settings.AckGroup);
        var consumer = new AsyncEventingBasicConsumer(channel);
        consumer.ReceivedAsync += async (_, delivery) =>
        {
            var (tag, replyTo, id) = (delivery.DeliveryTag, delivery.BasicProperties.ReplyTo!, delivery.BasicProperties.MessageId);
            var rows = await QueryAsync(delivery.Body.ToArray());
            await Channel.BasicPublishAsync("", replyTo, mandatory: true, new BasicProperties { CorrelationId = id }, rows);
            await acks.DoneAsync(tag);
        };
        await channel.BasicQosAsync(0, settings.Prefetch, global: false);
        await channel.BasicConsumeAsync(Queue, autoAck: false, consumer);
    }

    private async Task<byte[]> QueryAsync(byte[] request)
    {
        using var asked = JsonDocument.Parse(request);
        await using var command = database.CreateCommand("select id, name, country from customers where country = $1");
        command.Parameters.Add(new NpgsqlParameter<string> { TypedValue = asked.RootElement.GetProperty("country").GetString()! });
        await using var reader = await command.ExecuteReaderAsync();
        var rows = new MemoryStream();
        await using var writer = new Utf8JsonWriter(rows);
        writer.WriteStartArray();
        while (await reader.ReadAsync())
        {
            writer.WriteStartObject();
            writer.WriteNumber("id", reader.GetInt32(0));
            writer.WriteString("name", reader.GetString(1));
            writer.WriteString("country", reader.GetString(2));
            writer.WriteEndObject();
        }

        writer.WriteEndArray();
        await writer.FlushAsync();
        return rows.ToArray();
    }
}
