using System.Diagnostics;
using System.Net;
using System.Net.Sockets;
using Esb.Core.Topics;

namespace Esb.IntegrationTests.Topics.Broker;

/// <summary>A broker that takes connections and says nothing: it is frozen, or a balancer has nobody behind it.</summary>
[TestFixture, Category("Faults"), Category("WaitsLong")]
public sealed class SilentBrokerTests
{
    [Test, CancelAfter(120_000)]
    public async Task A_host_starts_beside_it_and_is_not_ready(CancellationToken cancellationToken)
    {
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        await using var transport = new TestBroker($"amqp://guest:guest@{listener.LocalEndpoint}").CreateTransport(
            new Dictionary<string, TopicConfig> { ["orders"] = new() }
        );

        var started = Stopwatch.GetTimestamp();
        await transport.StartAsync(cancellationToken);

        Assert.That(Stopwatch.GetElapsedTime(started), Is.LessThan(TimeSpan.FromSeconds(30)));
        Assert.That(transport.Status.IsReady, Is.False);
        Assert.That(transport.Status.Reason, Is.EqualTo("broker away"));
    }
}
