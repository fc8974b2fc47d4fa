using Esb.IntegrationTests.MassTransit;
using Esb.Tests;
using MassTransit;
using RabbitMQ.Client;

namespace Esb.IntegrationTests.Speed;

/// <summary>Messages of MassTransit applications, beside MassTransit.</summary>
public sealed partial class AdapterSpeedTests
{
    private const int Events = 6_000;
    private const string Namespace = "Esb.IntegrationTests.Speed";

    private static readonly string EventText = new('x', Bytes - 11); // with its member, 2 KB
    private static readonly string EventBody = $$"""{"text":"{{EventText}}"}""";

    /// <summary>Messages that wait in a queue are taken; the time is that from the first to the last.</summary>
    [TestCase(1), TestCase(32)]
    public async Task MassTransit_in(int atOnce, CancellationToken cancellationToken)
    {
        var (type, queue) = ($"Speed{Guid.NewGuid():N}:Event", $"esb-speed-{Guid.NewGuid():N}");
        await using var broker = await new ConnectionFactory { Uri = new Uri(Servers.RabbitMq) }.CreateConnectionAsync(cancellationToken);
        await using var channel = await CreateConfirmingAsync(broker, cancellationToken);

        await CompareAsync(
            "masstransit-inbound",
            "MassTransit: consumer",
            atOnce,
            Events,
            () => FillAsync(channel, queue, [$"{Namespace}:{nameof(SpeedEvent)}", type]),
            () => ConsumeAsync(queue, atOnce, cancellationToken),
            async () =>
            {
                var tally = new Tally(Events);
                var config = SomeMassTransit.InboundConfig(Servers.RabbitMq, type, queue) with { MaxConcurrentCalls = atOnce };
                await using var endpoint = SomeMassTransit.Inbound(config, new CountingIntake(tally.Add));
                await endpoint.StartAsync(cancellationToken);
                var took = await tally.Took.WaitAsync(cancellationToken);
                await endpoint.StopAsync(cancellationToken);
                return took;
            }
        );
        await channel.QueueDeleteAsync(queue, cancellationToken: cancellationToken);
        foreach (var exchange in new[] { queue, type })
            await channel.ExchangeDeleteAsync(exchange, cancellationToken: cancellationToken);
    }

    /// <summary>Events are published, each confirmed, to an exchange that nothing is bound to.</summary>
    [TestCase(1), TestCase(32)]
    public async Task MassTransit_out(int atOnce, CancellationToken cancellationToken)
    {
        var type = $"Speed{Guid.NewGuid():N}:Event";
        var bus = Bus.Factory.CreateUsingRabbitMq(rabbit => rabbit.Host(new Uri(Servers.RabbitMq)));
        await bus.StartAsync(cancellationToken);
        await using var adapter = SomeMassTransit.Outbound(SomeMassTransit.OutboundConfig(Servers.RabbitMq, type));
        var text = new SpeedEvent { Text = EventText };

        await CompareAsync(
            "masstransit-outbound",
            "MassTransit: publish",
            atOnce,
            Events,
            () => Task.CompletedTask,
            () => SplitAsync(Events, atOnce, _ => bus.Publish(text, cancellationToken)),
            () => SendAllAsync(adapter, Events, atOnce, () => Some.Message(EventBody, contentType: "application/json"), cancellationToken)
        );
        await bus.StopAsync(cancellationToken);
        await using var broker = await new ConnectionFactory { Uri = new Uri(Servers.RabbitMq) }.CreateConnectionAsync(cancellationToken);
        await using var channel = await broker.CreateChannelAsync(cancellationToken: cancellationToken);
        foreach (var exchange in new[] { type, $"{Namespace}:{nameof(SpeedEvent)}" })
            await channel.ExchangeDeleteAsync(exchange, cancellationToken: cancellationToken);
    }

    private static async Task<TimeSpan> ConsumeAsync(string queue, int atOnce, CancellationToken cancellationToken)
    {
        var tally = new Tally(Events);
        var bus = Bus.Factory.CreateUsingRabbitMq(rabbit =>
        {
            rabbit.Host(new Uri(Servers.RabbitMq));
            rabbit.ReceiveEndpoint(
                queue,
                endpoint =>
                {
                    endpoint.ConfigureConsumeTopology = false; // messages are in the queue already
                    (endpoint.PrefetchCount, endpoint.ConcurrentMessageLimit) = (Math.Max(32, 2 * atOnce), atOnce);
                    endpoint.Handler<SpeedEvent>(_ =>
                    {
                        tally.Add();
                        return Task.CompletedTask;
                    });
                }
            );
        });
        await bus.StartAsync(cancellationToken);
        var took = await tally.Took.WaitAsync(cancellationToken);
        await bus.StopAsync(cancellationToken);
        return took;
    }

    private static Task FillAsync(IChannel channel, string queue, IReadOnlyList<string> types)
    {
        var urns = string.Join(", ", types.Select(type => $"\"urn:message:{type}\""));
        return FillAsync(
            channel,
            queue,
            "application/vnd.masstransit+json",
            () => $$"""{ "messageId": "{{Guid.NewGuid()}}", "messageType": [{{urns}}], "message": {{EventBody}}, "headers": {} }"""
        );
    }
}

/// <summary>An event of an application.</summary>
public sealed record SpeedEvent
{
    public required string Text { get; init; }
}
