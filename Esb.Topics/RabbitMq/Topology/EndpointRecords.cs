using System.Text.Json;
using System.Text.Json.Serialization;
using Esb.Core.Errors;
using Esb.Core.Topics;
using Esb.Topics.RabbitMq.Connections;
using Esb.Topics.RabbitMq.Publishing;
using RabbitMQ.Client;

namespace Esb.Topics.RabbitMq.Topology;

/// <summary>Stores a record beside the queues of each endpoint: the only message of a queue that keeps only its newest.</summary>
internal sealed class EndpointRecords(ConfirmedPublisher publisher)
{
    private static readonly JsonSerializerOptions Json = new(JsonSerializerDefaults.Web) { Converters = { new JsonStringEnumConverter() } };

    // The record is unavailable while another host reads it.
    private const int Looks = 30;
    private const int LooksForNone = 5;
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(100);

    /// <summary>Reads the record over a channel; when the channel is closed, a record that was not replaced is available again.</summary>
    /// <exception cref="EsbException"><c>ESB-TOPIC-UNAVAILABLE</c>: another host has held it for three seconds.</exception>
    public async Task<OpenRecord> OpenAsync(
        IConnection connection,
        IChannel channel,
        EndpointNames queues,
        CancellationToken cancellationToken
    )
    {
        var queue = queues.Record;
        var isNew = !await connection.HasQueueAsync(queue, cancellationToken);
        await channel.QueueDeclareAsync(
            queue,
            durable: true,
            exclusive: false,
            autoDelete: false,
            RabbitMqTopology.Newest(1),
            cancellationToken: cancellationToken
        );
        if (isNew)
            return new OpenRecord(null, 0);
        for (var look = 1; look <= Looks; look++)
        {
            if (await channel.BasicGetAsync(queue, autoAck: false, cancellationToken) is { } found)
                return new OpenRecord(JsonSerializer.Deserialize<EndpointRecord>(found.Body.Span, Json), found.DeliveryTag);
            // A host that has just created the queue may still write its record. A quorum queue counts the holder of a message as a
            // consumer.
            if (
                look >= LooksForNone
                && await connection.CountAsync(queue, cancellationToken) is null or { MessageCount: 0, ConsumerCount: 0 }
            )
                return new OpenRecord(null, 0);
            await Task.Delay(Pause, cancellationToken);
        }

        throw new EsbException(
            "ESB-TOPIC-UNAVAILABLE",
            $"Another host holds the record of the queues of '{queues.Endpoint}'.",
            FaultKind.Unavailable
        );
    }

    /// <summary>Reads the record without creating anything; null if it does not exist.</summary>
    public async Task<EndpointRecord?> PeekAsync(IConnection connection, EndpointNames queues, CancellationToken cancellationToken)
    {
        if (!await connection.HasQueueAsync(queues.Record, cancellationToken))
            return null;
        await using var channel = await connection.CreateChannelAsync(cancellationToken: cancellationToken);
        return (await OpenAsync(connection, channel, queues, cancellationToken)).Record;
    }

    /// <summary>Replaces an open record.</summary>
    /// <exception cref="IOException">It could not be written; the old one stays.</exception>
    public async Task ReplaceAsync(
        IChannel channel,
        EndpointNames queues,
        OpenRecord open,
        EndpointRecord record,
        CancellationToken cancellationToken
    )
    {
        var properties = new BasicProperties { Persistent = true };
        // not over this connection, which only consumes
        var written = await publisher.SendAsync(queues.Record, properties, JsonSerializer.SerializeToUtf8Bytes(record, Json));
        if (written.Outcome != PublishOutcome.Confirmed)
            throw new IOException($"The bindings could not be recorded: {written.Reason}.");
        if (open.Record is not null)
            await channel.BasicAckAsync(open.Tag, multiple: false, cancellationToken);
    }
}

/// <summary>A record that has been opened.</summary>
internal sealed record OpenRecord(EndpointRecord? Record, ulong Tag);
