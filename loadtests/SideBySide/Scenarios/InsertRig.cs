using SideBySide.Measuring;
using SideBySide.Servers;
using SideBySide.Targets;
using SideBySide.Topics;

namespace SideBySide.Scenarios;

/// <summary>S6: orders published by an AMQP client to a topic, inserted by an endpoint; every row is compared with what was sent.</summary>
internal sealed class InsertRig(Surroundings surroundings, TestServers servers) : IRig
{
    private const string Audit =
        "classic queue, persistent, each message acknowledged after its commit and its record in the audit trail (disk, then PostgreSQL)";

    public IReadOnlyList<string> Scenarios { get; } = ["S6"];

    public async Task RunAsync(IReadOnlySet<string> wanted, Func<Contest, Task> hold, CancellationToken cancellationToken)
    {
        await using var topics = await TopicServers.StartAsync(surroundings, servers, cancellationToken);
        await HoldWideAsync(topics, hold, cancellationToken);
        await HoldSerialAsync(topics, hold, cancellationToken);
    }

    private async Task HoldWideAsync(TopicServers topics, Func<Contest, Task> hold, CancellationToken cancellationToken)
    {
        await using var host = await topics.HostAsync("insert-250", [], cancellationToken);
        await using var grouped = await Side.TryAsync(
            "pool of 250, grouped",
            () => topics.HostAsync("topics-grouped", "insert-grouped", [], cancellationToken)
        );
        await using var massTransit = await Side.TryAsync("MassTransit", () => topics.MassTransitAsync(cancellationToken));
        await using var bare = await topics.BareAsync(concurrency: 30, connections: 8, cancellationToken);
        var ours = Ours(
            "pool of 250",
            topics,
            host,
            "insert-250",
            $"pool of 250, 30 threads, one commit for each message; {Audit}",
            isOrdered: false
        );
        await bare.ConsumeAsync(cancellationToken);
        var byHand = Bare("bare client, 30 at once", topics, bare, isOrdered: false);
        var oursGrouped = grouped.Target(server =>
            Ours(
                "pool of 250, grouped",
                topics,
                server,
                "insert-grouped",
                $"pool of 250, 100 threads, batches as they come; {Audit}",
                isOrdered: false
            )
        );
        var (broker, database) = (Broker(topics, byHand), new PgbenchTarget(topics.Database, surroundings));
        await hold(
            new Contest(
                "S6",
                [
                    new("S6", "one commit per message", ours, [broker, database], Goal.Ratio(0.85)),
                    new("S6", "one commit per message", ours, [massTransit.Target(client => MassTransit(topics, client))], Goal.Ratio(1.1)),
                    new("S6", "one commit per message", ours, [byHand], Goal.Ratio(1)),
                    new("S6", "grouped commits", oursGrouped, [broker], Goal.Ratio(0.9)),
                ]
            )
        );
    }

    private static async Task HoldSerialAsync(TopicServers topics, Func<Contest, Task> hold, CancellationToken cancellationToken)
    {
        await using var host = await topics.HostAsync("insert-1", [new("orders-db", 1, 1)], cancellationToken);
        await using var bare = await topics.BareAsync(concurrency: 1, connections: 1, cancellationToken);
        await bare.ConsumeAsync(cancellationToken);
        var ours = Ours("pool of 1, in order", topics, host, "insert-1", $"pool of 1, 1 thread, in order; {Audit}", isOrdered: true);
        await hold(
            new Contest(
                "S6, pool of 1",
                [new("S6", "pool of 1, in order", ours, [Bare("serial loop of inserts", topics, bare, isOrdered: true)], Goal.Ratio(0.9))]
            )
        );
    }

    // Without PerfTest the limit is a consumer by hand.
    private ITarget Broker(TopicServers topics, ITarget byHand) =>
        surroundings.Peer("bin/perf-test.jar") is { } jar && Surroundings.HasProgram("java")
            ? new PerfTestTarget(jar, topics.Broker)
            : byHand;

    private static InsertTarget Ours(string name, TopicServers topics, EsbHost host, string prefix, string settings, bool isOrdered) =>
        new(
            name,
            $"{host.Collector} collector; {settings}",
            Meter.Of(host),
            topics.Publisher,
            topics.Table,
            new Address($"{prefix}.topics.orders", "orders.new")
        )
        {
            IsOrdered = isOrdered,
        };

    private static InsertTarget Bare(string name, TopicServers topics, BareClient bare, bool isOrdered) =>
        new(
            name,
            "RabbitMQ.Client and Npgsql by hand: one commit and one ack for each message, no audit",
            new Meter(() => bare.ProcessorTime, bare.Probe),
            topics.Publisher,
            topics.Table,
            new Address("", BareClient.Queue)
        )
        {
            IsOrdered = isOrdered,
        };

    private static InsertTarget MassTransit(TopicServers topics, MassTransitClient client) =>
        new(
            "MassTransit",
            "8.4 on RabbitMQ, 30 at once, prefetch of 60, one commit and one ack for each message, no audit",
            new Meter(() => client.ProcessorTime, client.Probe),
            topics.Publisher,
            topics.Table,
            new Address("", MassTransitClient.Queue)
        );
}
