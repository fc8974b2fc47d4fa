using System.Diagnostics;
using RabbitMQ.Client;
using RabbitMQ.Client.Events;
using SideBySide.Scenarios;

namespace SideBySide.Topics;

/// <summary>Counts what a host publishes to its topic <c>out</c>.</summary>
/// <remarks>It costs the broker little: a queue of its own in memory, and nothing is acknowledged.</remarks>
internal sealed class PublishedCounter : IAsyncDisposable
{
    private readonly IConnection _connection;
    private readonly IChannel _channel;
    private long _count;
    private long _first;
    private long _last;

    private PublishedCounter(IConnection connection, IChannel channel) => (_connection, _channel) = (connection, channel);

    /// <summary>Messages since the last reset.</summary>
    public long Count => Interlocked.Read(ref _count);

    /// <summary>The timestamp of the last of them.</summary>
    public long Last => Interlocked.Read(ref _last);

    /// <summary>The timestamp of the first of them.</summary>
    public long First => Interlocked.Read(ref _first);

    /// <param name="topics">The broker of the host.</param>
    /// <param name="prefix">That of the host.</param>
    /// <param name="cancellationToken">Stops connecting.</param>
    /// <param name="isQuorum">True for a quorum queue, which lasts until the server ends.</param>
    public static async Task<PublishedCounter> StartAsync(
        TopicServers topics,
        string prefix,
        CancellationToken cancellationToken,
        bool isQuorum = false
    )
    {
        var connection = await new ConnectionFactory { Uri = new Uri(topics.Broker) }.CreateConnectionAsync(cancellationToken);
        var channel = await connection.CreateChannelAsync(cancellationToken: cancellationToken);
        var counter = new PublishedCounter(connection, channel);
        var queue = isQuorum
            ? (
                await channel.QueueDeclareAsync(
                    $"{prefix}.counted",
                    durable: true,
                    exclusive: false,
                    autoDelete: false,
                    new Dictionary<string, object?> { ["x-queue-type"] = "quorum" },
                    cancellationToken: cancellationToken
                )
            ).QueueName
            : (await channel.QueueDeclareAsync(cancellationToken: cancellationToken)).QueueName;
        await channel.QueueBindAsync(queue, $"{prefix}.topics.out", "out.#", cancellationToken: cancellationToken);
        var consumer = new AsyncEventingBasicConsumer(channel);
        consumer.ReceivedAsync += (_, _) => counter.AddAsync();
        await channel.BasicConsumeAsync(queue, autoAck: true, consumer, cancellationToken);
        return counter;
    }

    public void Reset() => Interlocked.Exchange(ref _count, 0);

    /// <summary>Waits until so many messages were published, or none has come for a while.</summary>
    public async Task WaitAsync(long messages, TimeSpan patience, CancellationToken cancellationToken)
    {
        var (before, last) = (0L, Stopwatch.GetTimestamp());
        while (before < messages && Stopwatch.GetElapsedTime(last) < patience)
        {
            await Task.Delay(50, cancellationToken);
            if (Count is var now && now > before)
                (before, last) = (now, Stopwatch.GetTimestamp());
        }
    }

    public async ValueTask DisposeAsync()
    {
        await _channel.DisposeAsync();
        await _connection.DisposeAsync();
    }

    private Task AddAsync()
    {
        Interlocked.Exchange(ref _last, Stopwatch.GetTimestamp());
        if (Interlocked.Increment(ref _count) == 1)
            Interlocked.Exchange(ref _first, Stopwatch.GetTimestamp());
        return Task.CompletedTask;
    }
}
