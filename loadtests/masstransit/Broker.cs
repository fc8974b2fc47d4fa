using System.Diagnostics;
using System.Text;
using RabbitMQ.Client;
using RabbitMQ.Client.Events;
using RabbitMQ.Client.Exceptions;

namespace MassTransitLoad;

/// <summary>Fills queues, and counts what arrives.</summary>
public sealed class Broker : IAsyncDisposable
{
    private static readonly string Message = $$"""{"orderId":"{{Guid.NewGuid()}}","text":"{{new string('x', 1930)}}"}""";

    private readonly IConnection _connection;

    private Broker(IConnection connection) => _connection = connection;

    public static async Task<Broker> OpenAsync(string url) =>
        new(await new ConnectionFactory { Uri = new Uri(url) }.CreateConnectionAsync());

    /// <summary>Waits until a queue exists and is read, and is empty.</summary>
    public async Task WaitForAsync(string queue)
    {
        for (var began = Stopwatch.GetTimestamp(); Stopwatch.GetElapsedTime(began) < TimeSpan.FromMinutes(1); await Task.Delay(200))
        {
            await using var channel = await _connection.CreateChannelAsync();
            try
            {
                if (await channel.QueueDeclarePassiveAsync(queue) is { ConsumerCount: > 0, MessageCount: 0 })
                    return;
            }
            catch (OperationInterruptedException)
            {
                // not there yet
            }
        }

        throw new TimeoutException($"Nobody reads the queue {queue}.");
    }

    public async Task FillAsync(Way way, int messages)
    {
        await using var channel = await _connection.CreateChannelAsync(
            new CreateChannelOptions(publisherConfirmationsEnabled: true, publisherConfirmationTrackingEnabled: true)
        );
        foreach (var chunk in Enumerable.Range(0, messages).Chunk(200))
        {
            await Task.WhenAll(
                chunk.Select(_ =>
                {
                    var id = Guid.NewGuid().ToString();
                    var body = way.IsEnveloped
                        ? $$"""{"messageId":"{{id}}","conversationId":"{{Guid.NewGuid()}}","messageType":["urn:message:{{way.Exchange}}"],"message":{{Message}},"headers":{ } }"""
                        : Message;
                    var properties = new BasicProperties
                    {
                        MessageId = id,
                        Persistent = true,
                        ContentType = way.IsEnveloped ? "application/vnd.masstransit+json" : "application/json",
                    };
                    return channel
                        .BasicPublishAsync(way.Exchange, way.RoutingKey, mandatory: true, properties, Encoding.UTF8.GetBytes(body))
                        .AsTask();
                })
            );
        }
    }

    public async Task<Counter> CountAsync(Way way, int messages)
    {
        var channel = await _connection.CreateChannelAsync();
        var queue = await channel.QueueDeclareAsync();
        if (way.IsEnveloped)
            await channel.ExchangeDeclareAsync(way.Exchange, ExchangeType.Fanout, durable: true);
        await channel.QueueBindAsync(queue.QueueName, way.Exchange, way.RoutingKey);
        var counter = new Counter(channel, messages);
        var consumer = new AsyncEventingBasicConsumer(channel);
        consumer.ReceivedAsync += (_, _) => counter.TakeAsync();
        await channel.BasicConsumeAsync(queue.QueueName, autoAck: true, consumer);
        return counter;
    }

    /// <summary>Deletes what both sides made.</summary>
    public async Task ForgetAsync()
    {
        await using var channel = await _connection.CreateChannelAsync();
        foreach (var way in new[] { PlainApplication.Source, PlainApplication.Target, EsbHost.Inbound, EsbHost.Event, EsbHost.Outbound })
        {
            if (way.Queue is not null)
                await channel.QueueDeleteAsync(way.Queue);
            if (way.IsEnveloped)
                await channel.ExchangeDeleteAsync(way.Exchange);
        }
    }

    public ValueTask DisposeAsync() => _connection.DisposeAsync();
}

/// <summary>Counts arrivals.</summary>
public sealed class Counter(IChannel channel, int messages) : IAsyncDisposable
{
    private readonly TaskCompletionSource _finished = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly int _first = messages / 20;
    private readonly int _last = messages - (messages / 20);
    private int _count;
    private long _began;
    private long _ended;

    public Task Finished => _finished.Task;

    public double Rate => (_last - _first) / Stopwatch.GetElapsedTime(_began, _ended).TotalSeconds;

    public Task TakeAsync()
    {
        _count++; // one at a time
        if (_count == _first)
            _began = Stopwatch.GetTimestamp();
        if (_count == _last)
            _ended = Stopwatch.GetTimestamp();
        if (_count == messages)
            _finished.TrySetResult();
        return Task.CompletedTask;
    }

    public ValueTask DisposeAsync() => channel.DisposeAsync();
}
