using System.Diagnostics;
using Npgsql;
using RabbitMQ.Client;
using RabbitMQ.Client.Events;
using SideBySide.Scenarios;

namespace SideBySide.Topics;

/// <summary>Starts instances of workflows, and counts what they publish and how they end.</summary>
internal sealed class WorkflowBench : IAsyncDisposable
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);

    private readonly OrderPublisher _publisher;
    private readonly NpgsqlDataSource _database;
    private readonly string _prefix;
    private readonly IConnection _connection;
    private readonly IChannel _channel;
    private long _published;

    private WorkflowBench(OrderPublisher publisher, NpgsqlDataSource database, string prefix, IConnection connection, IChannel channel) =>
        (_publisher, _database, _prefix, _connection, _channel) = (publisher, database, prefix, connection, channel);

    /// <param name="topics">Broker and database of the host.</param>
    /// <param name="prefix">That of the host.</param>
    public static async Task<WorkflowBench> ConnectAsync(TopicServers topics, string prefix, CancellationToken cancellationToken)
    {
        var connection = await new ConnectionFactory { Uri = new Uri(topics.Broker) }.CreateConnectionAsync(cancellationToken);
        var channel = await connection.CreateChannelAsync(cancellationToken: cancellationToken);
        var bench = new WorkflowBench(topics.Publisher, NpgsqlDataSource.Create(topics.Database), prefix, connection, channel);
        await bench.CountPublishedAsync(cancellationToken);
        return bench;
    }

    /// <summary>Starts so many instances and waits for the end of all.</summary>
    /// <returns>What was wrong, or null; and the time from the first start to the last end, less what instances wait by definition.</returns>
    public async Task<(string? Flaw, TimeSpan Time)> RunAsync(
        WorkflowKind kind,
        string run,
        int instances,
        CancellationToken cancellationToken
    )
    {
        var began = await BeginAsync(cancellationToken);
        Interlocked.Exchange(ref _published, 0);
        for (var message = 0; message < kind.MessagesForEach; message++)
            await _publisher.PublishAsync(
                new Address($"{_prefix}.topics.in", $"in.{kind.Name}") { IsKeyed = true },
                run,
                1,
                instances,
                cancellationToken
            );
        await WaitAsync(instances * kind.PublishedByEach, kind.Waits + Patience, cancellationToken);
        var (completed, others, time) = await EndedAsync(kind, began, cancellationToken);
        var flaw = (completed, others, Interlocked.Read(ref _published)) switch
        {
            (_, > 0, _) => $"{others} instances did not complete",
            ({ } ended, _, _) when ended != instances => $"{ended} of {instances} instances completed",
            (_, _, { } published) when published != instances * kind.PublishedByEach =>
                $"{published} of {instances * kind.PublishedByEach} messages were published",
            _ => null,
        };
        return (flaw, time - kind.Waits);
    }

    public async ValueTask DisposeAsync()
    {
        await _channel.DisposeAsync();
        await _connection.DisposeAsync();
        await _database.DisposeAsync();
    }

    // Costs the broker little: a queue of its own in memory, and nothing is acknowledged.
    private async Task CountPublishedAsync(CancellationToken cancellationToken)
    {
        var queue = (await _channel.QueueDeclareAsync(cancellationToken: cancellationToken)).QueueName;
        await _channel.QueueBindAsync(queue, $"{_prefix}.topics.out", "out.#", cancellationToken: cancellationToken);
        var consumer = new AsyncEventingBasicConsumer(_channel);
        consumer.ReceivedAsync += (_, _) =>
        {
            Interlocked.Increment(ref _published);
            return Task.CompletedTask;
        };
        await _channel.BasicConsumeAsync(queue, autoAck: true, consumer, cancellationToken);
    }

    // Waits until so many messages were published, or none has come for a while.
    private async Task WaitAsync(int messages, TimeSpan patience, CancellationToken cancellationToken)
    {
        var (before, last) = (0L, Stopwatch.GetTimestamp());
        while (before < messages && Stopwatch.GetElapsedTime(last) < patience)
        {
            await Task.Delay(50, cancellationToken);
            if (Interlocked.Read(ref _published) is var now && now > before)
                (before, last) = (now, Stopwatch.GetTimestamp());
        }
    }

    private async Task<DateTime> BeginAsync(CancellationToken cancellationToken)
    {
        await using var command = _database.CreateCommand("select clock_timestamp()");
        return (DateTime)(await command.ExecuteScalarAsync(cancellationToken))!;
    }

    private async Task<(long Completed, long Others, TimeSpan Time)> EndedAsync(
        WorkflowKind kind,
        DateTime began,
        CancellationToken cancellationToken
    )
    {
        await using var command = _database.CreateCommand(
            $"""
            select count(*) filter (where state = 'Completed'), count(*) filter (where state <> 'Completed'),
              coalesce(max(ended_at) - min(started_at), interval '0')
            from esb_{_prefix}.workflow_instance where workflow = $1 and started_at >= $2
            """
        );
        command.Parameters.AddWithValue(kind.Name);
        command.Parameters.AddWithValue(began);
        await using var reader = await command.ExecuteReaderAsync(cancellationToken);
        await reader.ReadAsync(cancellationToken);
        return (reader.GetInt64(0), reader.GetInt64(1), reader.GetFieldValue<TimeSpan>(2));
    }
}
