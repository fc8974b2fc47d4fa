using System.Text;
using Esb.Content.Expressions;
using Esb.Core.Brokers;
using Esb.Endpoints.Amqp;
using Esb.IntegrationTests.MassTransit;
using Esb.Tests;
using RabbitMQ.Client;
using RabbitMQ.Client.Events;

namespace Esb.IntegrationTests.Speed;

/// <summary>Messages of a queue, beside RabbitMQ.Client.</summary>
public sealed partial class AdapterSpeedTests
{
    /// <summary>Messages that wait in a queue are taken; the time is that from the first to the last.</summary>
    [TestCase(1), TestCase(32)]
    public async Task Amqp_in(int atOnce, CancellationToken cancellationToken)
    {
        var queue = $"esb-speed-{Guid.NewGuid():N}";
        await using var broker = await ConnectAsync(atOnce, cancellationToken);
        await using var channel = await CreateConfirmingAsync(broker, cancellationToken);
        var config = new AmqpInboundConfig
        {
            Name = "orders",
            Path = "endpoints.orders",
            Url = Servers.RabbitMq,
            Queue = queue,
            MaxConcurrentCalls = atOnce,
        };

        await CompareAsync(
            "amqp-inbound",
            "RabbitMQ.Client: consume, acknowledge",
            atOnce,
            Events,
            () => FillAsync(channel, queue, "text/plain", () => Body),
            () => ConsumePlainAsync(broker, queue, config.PrefetchInUse, cancellationToken),
            async () =>
            {
                var tally = new Tally(Events);
                await using var endpoint = SomeBrokers.Inbound(
                    config,
                    new AmqpFormat(config, SomeMassTransit.MaxBodyBytes, SomeBrokers.All.IsOurs, TimeProvider.System),
                    config.PrefetchInUse,
                    config.MaxConcurrentCalls,
                    _ => Task.FromResult(new BrokerLayout { Queue = new BrokerQueue(queue) }),
                    new CountingIntake(tally.Add)
                );
                await endpoint.StartAsync(cancellationToken);
                var took = await tally.Took.WaitAsync(cancellationToken);
                await endpoint.StopAsync(cancellationToken);
                return took;
            }
        );
        await channel.QueueDeleteAsync(queue, cancellationToken: cancellationToken);
    }

    /// <summary>Messages are put into a queue, each confirmed.</summary>
    [TestCase(1), TestCase(32)]
    public async Task Amqp_out(int atOnce, CancellationToken cancellationToken)
    {
        var queue = $"esb-speed-{Guid.NewGuid():N}";
        await using var broker = await ConnectAsync(atOnce, cancellationToken);
        await using var channel = await CreateConfirmingAsync(broker, cancellationToken);
        await channel.QueueDeclareAsync(queue, durable: true, exclusive: false, autoDelete: false, cancellationToken: cancellationToken);
        var config = new AmqpOutboundConfig
        {
            Name = "out",
            Path = "endpoints.out",
            Url = Servers.RabbitMq,
            Send = $"queue:{queue}",
        };
        await using var adapter = new AmqpOutboundAdapter(
            config,
            new ConstantValue(""),
            SomeBrokers.All.CreatePublisher(config, config.Name, new BrokerLayout { Queue = new BrokerQueue(queue) }),
            SomeMassTransit.MaxBodyBytes,
            TimeProvider.System
        );
        var properties = new BasicProperties { ContentType = "text/plain", Persistent = true };

        await CompareAsync(
            "amqp-outbound",
            "RabbitMQ.Client: publish, confirm",
            atOnce,
            Events,
            () => channel.QueuePurgeAsync(queue, cancellationToken),
            () =>
                SplitAsync(
                    Events,
                    atOnce,
                    async _ =>
                        await channel.BasicPublishAsync(
                            "",
                            queue,
                            mandatory: true,
                            properties,
                            Encoding.UTF8.GetBytes(Body),
                            cancellationToken
                        )
                ),
            () => SendAllAsync(adapter, Events, atOnce, () => Some.Message(Body, contentType: "text/plain"), cancellationToken)
        );
        await channel.QueueDeleteAsync(queue, cancellationToken: cancellationToken);
    }

    private static Task<IConnection> ConnectAsync(int atOnce, CancellationToken cancellationToken) =>
        new ConnectionFactory { Uri = new Uri(Servers.RabbitMq), ConsumerDispatchConcurrency = (ushort)atOnce }.CreateConnectionAsync(
            cancellationToken
        );

    private static Task<IChannel> CreateConfirmingAsync(IConnection broker, CancellationToken cancellationToken) =>
        broker.CreateChannelAsync(
            new CreateChannelOptions(publisherConfirmationsEnabled: true, publisherConfirmationTrackingEnabled: true),
            cancellationToken
        );

    private static async Task<TimeSpan> ConsumePlainAsync(
        IConnection broker,
        string queue,
        int prefetch,
        CancellationToken cancellationToken
    )
    {
        var tally = new Tally(Events);
        await using var channel = await broker.CreateChannelAsync(cancellationToken: cancellationToken);
        await channel.BasicQosAsync(0, (ushort)prefetch, global: false, cancellationToken);
        var consumer = new AsyncEventingBasicConsumer(channel);
        consumer.ReceivedAsync += async (_, delivery) =>
        {
            await channel.BasicAckAsync(delivery.DeliveryTag, multiple: false, cancellationToken);
            tally.Add();
        };
        await channel.BasicConsumeAsync(queue, autoAck: false, consumer, cancellationToken);
        return await tally.Took.WaitAsync(cancellationToken);
    }

    // Durable, as endpoints make it.
    private static async Task FillAsync(IChannel channel, string queue, string contentType, Func<string> body)
    {
        await channel.QueueDeclareAsync(queue, durable: true, exclusive: false, autoDelete: false);
        await channel.QueuePurgeAsync(queue);
        var properties = new BasicProperties { ContentType = contentType, Persistent = true };
        foreach (var chunk in Enumerable.Range(0, Events).Chunk(200))
        {
            await Task.WhenAll(
                chunk.Select(_ =>
                    channel.BasicPublishAsync("", queue, mandatory: true, properties, Encoding.UTF8.GetBytes(body())).AsTask()
                )
            );
        }
    }
}
