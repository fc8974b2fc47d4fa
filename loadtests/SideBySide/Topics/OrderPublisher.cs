using System.Globalization;
using RabbitMQ.Client;

namespace SideBySide.Topics;

/// <summary>Publishes numbered orders of 1 KiB: persistent, confirmed, over one channel, so that their order is known.</summary>
internal sealed class OrderPublisher : IAsyncDisposable
{
    /// <summary>Published and not yet confirmed, at most; PerfTest is given the same number.</summary>
    public const int MostUnconfirmed = 256;

    public const int BodyBytes = 1_024;

    private readonly IConnection _connection;
    private readonly IChannel _channel;

    private OrderPublisher(IConnection connection, IChannel channel) => (_connection, _channel) = (connection, channel);

    public static async Task<OrderPublisher> ConnectAsync(string broker, CancellationToken cancellationToken)
    {
        var connection = await new ConnectionFactory { Uri = new Uri(broker) }.CreateConnectionAsync(cancellationToken);
        return new OrderPublisher(connection, await connection.CreateChannelAsync(new CreateChannelOptions(true, true), cancellationToken));
    }

    /// <summary>Returns when all are confirmed.</summary>
    /// <param name="run">Tells the orders of one round from those of another.</param>
    /// <param name="first">The number of the first order.</param>
    /// <param name="last">The number of the last one.</param>
    public async Task PublishAsync(Address address, string run, int first, int last, CancellationToken cancellationToken)
    {
        var unconfirmed = new Queue<ValueTask>(MostUnconfirmed);
        for (var number = first; number <= last; number++)
        {
            cancellationToken.ThrowIfCancellationRequested();
            if (unconfirmed.Count == MostUnconfirmed)
                await unconfirmed.Dequeue();
            unconfirmed.Enqueue(PublishAsync(address, address.IsKeyed ? $"{run}-{number}" : null, Body(run, number)));
        }

        while (unconfirmed.TryDequeue(out var confirm))
            await confirm;
    }

    /// <summary>Such as <c>{"order":"r1-17","fill":"xxx…"}</c>; <see cref="OrdersTable"/> knows the form too.</summary>
    internal static byte[] Body(string run, int number)
    {
        var body = new byte[BodyBytes];
        body.AsSpan().Fill((byte)'x');
        System.Text.Encoding.ASCII.GetBytes(
            string.Create(CultureInfo.InvariantCulture, $"{{\"order\":\"{run}-{number}\",\"fill\":\""),
            body
        );
        "\"}"u8.CopyTo(body.AsSpan(BodyBytes - 2));
        return body;
    }

    public async ValueTask DisposeAsync()
    {
        await _channel.DisposeAsync();
        await _connection.DisposeAsync();
    }

    // Never a token that may be cancelled: it would confuse the counting of confirms.
    private ValueTask PublishAsync(Address address, string? key, byte[] body) =>
        _channel.BasicPublishAsync(
            address.Exchange,
            address.RoutingKey,
            mandatory: false,
            new BasicProperties
            {
                MessageId = Guid.CreateVersion7().ToString(),
                ContentType = "application/json",
                Persistent = true,
                Headers = key is null ? null : new Dictionary<string, object?> { ["esb-key"] = key },
            },
            body,
            CancellationToken.None
        );
}
