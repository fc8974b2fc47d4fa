using System.Net;
using System.Net.Sockets;
using Esb.Core.Topics;
using Esb.Storage;
using Esb.Tests.Fakes;
using Esb.Topics.ClaimChecks;
using Esb.Topics.RabbitMq;
using Esb.Topics.RabbitMq.Receiving;
using Microsoft.Extensions.Logging.Abstractions;

namespace Esb.Tests.Topics.RabbitMq;

/// <summary>What must not wait for a broker that is not there.</summary>
public sealed class BrokerAwayTests
{
    private static readonly TimeSpan Soon = TimeSpan.FromSeconds(5);

    [TestCase(null), TestCase(4)]
    [CancelAfter(30_000)]
    public async Task Endpoint_is_tuned_and_stopped_while_the_broker_is_away(int? lanes, CancellationToken cancellationToken)
    {
        await using var transport = Transport($"amqp://127.0.0.1:{FreePorts.Next()}");
        await transport.StartAsync(cancellationToken);
        var wanted = new Subscription("orders-out", [SubjectPattern.Parse("orders.#")!], 1, 32, SingleActive: false, new QueueConfig(), []) { Lanes = lanes };
        var subscription = await transport.SubscribeAsync(wanted, (_, _) => ValueTask.FromResult(Settlement.Done), cancellationToken);

        await subscription.TuneAsync(concurrency: 2, prefetch: 64, isPaused: false, cancellationToken).WaitAsync(Soon, cancellationToken);
        await subscription.DisposeAsync().AsTask().WaitAsync(Soon, cancellationToken);

        Assert.That(subscription.IsLive, Is.False);
    }

    [Test, CancelAfter(30_000)]
    public async Task Bus_that_does_not_come_to_start_is_given_up(CancellationToken cancellationToken)
    {
        using var silent = new TcpListener(IPAddress.Loopback, 0);
        silent.Start(); // connections are made, and nobody says a word
        var time = new ManualTime();
        var address = RabbitMqAddress.Of(new RabbitMqTransportConfig { Url = $"amqp://{silent.LocalEndpoint}" }, time.GetUtcNow());
        await using var bus = new ReceiveBus(address, "tests", time, NullLoggerFactory.Instance);

        var connecting = bus.ConnectAsync("a-queue", concurrency: 1, prefetch: 1, new DeliveryFilter(null!, time), cancellationToken);
        await Eventually.HoldsAsync(() => time.Waiting > 0, "it has a deadline", cancellationToken);
        time.Advance(TimeSpan.FromSeconds(30));

        Assert.That(async () => await connecting.WaitAsync(TimeSpan.FromSeconds(10), cancellationToken), Throws.InstanceOf<OperationCanceledException>());
    }

    private static RabbitMqTransport Transport(string url) => new(
        new RabbitMqTransportConfig { Url = url, Prefix = "esb" }, "tests", new Dictionary<string, TopicConfig> { ["orders"] = new() }, new BodyLimits(1 << 20, 1 << 18), new NoClaimCheckStore(), TimeProvider.System, NullLoggerFactory.Instance);
}
