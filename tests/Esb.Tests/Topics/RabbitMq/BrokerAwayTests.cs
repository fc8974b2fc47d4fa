using Esb.Configuration;
using Esb.Core.Topics;
using Esb.Storage;
using Esb.Topics.ClaimChecks;
using Esb.Topics.RabbitMq;
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
        var wanted = new Subscription("orders-out", [SubjectPattern.Parse("orders.#")!], 1, 32, SingleActive: false, new QueueConfig(), [])
        {
            Lanes = lanes,
        };
        var subscription = await transport.SubscribeAsync(wanted, (_, _) => ValueTask.FromResult(Settlement.Done), cancellationToken);

        await subscription.TuneAsync(concurrency: 2, prefetch: 64, isPaused: false, cancellationToken).WaitAsync(Soon, cancellationToken);
        await subscription.DisposeAsync().AsTask().WaitAsync(Soon, cancellationToken);

        Assert.That(subscription.IsLive, Is.False);
    }

    private static RabbitMqTransport Transport(string url) =>
        new(
            new RabbitMqTransportConfig { Url = url, Prefix = "esb" },
            "tests",
            new Dictionary<string, TopicConfig> { ["orders"] = new() },
            [],
            new LimitsConfig(),
            new NoClaimCheckStore(),
            Esb.Topics.Farm.FarmKeys.None,
            TimeProvider.System,
            NullLoggerFactory.Instance
        );
}
