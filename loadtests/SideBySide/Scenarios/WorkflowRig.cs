using SideBySide.Measuring;
using SideBySide.Servers;
using SideBySide.Targets;
using SideBySide.Topics;

namespace SideBySide.Scenarios;

/// <summary>S9: the kinds of workflows, from the messages that start them to what they publish; pgbench runs in the same rounds.</summary>
internal sealed class WorkflowRig(Surroundings surroundings, TestServers servers) : IRig
{
    private const string Prefix = "workflows";

    private const string Settings =
        "default settings: quorum queues, persistent, an order key each, acknowledged after its checkpoint, audit on; RabbitMQ and PostgreSQL";

    public IReadOnlyList<string> Scenarios { get; } = ["S9"];

    public async Task RunAsync(IReadOnlySet<string> wanted, Func<Contest, Task> hold, CancellationToken cancellationToken)
    {
        await using var topics = await TopicServers.StartAsync(surroundings, servers, cancellationToken);
        await using var host = await topics.HostAsync("workflows", Prefix, [], cancellationToken);
        await using var bench = await WorkflowBench.ConnectAsync(topics, Prefix, cancellationToken);
        var pgbench = new PgbenchTarget(topics.Database, surroundings);
        foreach (var (kind, least) in Kinds())
        {
            var ours = new WorkflowTarget($"workflow {kind.Name}", $"{host.Collector} collector; {Settings}", Meter.Of(host), bench, kind);
            await hold(new Contest($"S9, {kind.Title}", [new("S9", kind.Title, ours, [pgbench], Goal.Rate(least))]));
        }

        await hold(new Contest("S9, web service", [await ServiceAsync(host, cancellationToken)]));
        var engine = new EngineTarget("engine alone", "short", topics.Database, surroundings);
        await hold(new Contest("S9, engine", [new("S9", "engine alone, start to end", engine, [pgbench], Goal.Rate(4_500))]));
        var steps = new EngineTarget("engine alone, five steps", "five-steps", topics.Database, surroundings);
        await hold(new Contest("S9, engine, five steps", [new("S9", "engine alone, five steps", steps, [pgbench], Goal.Rate(1_500))]));
    }

    private static IEnumerable<(WorkflowKind Kind, double Least)> Kinds() =>
        [
            (new("basic", "receive and send"), 1_400),
            (new("filter", "with a filter"), 1_400),
            (new("scope", "scope with compensation"), 660),
            (new("transaction", "database transaction"), 660),
            (new("convoy", "sequential convoy") { MessagesForEach = 2 }, 1_100),
            (new("sleep", "waits in the store") { Waits = TimeSpan.FromSeconds(10) }, 545),
            (new("inline", "calls in line") { PublishedByEach = 2 }, 1_400),
            (new("start", "starts another") { PublishedByEach = 2 }, 900),
            (new("batch", "collects five documents") { MessagesForEach = 5, CountsMessages = true }, 670),
            (new("steps", "five steps, a checkpoint each"), 1_500),
            (new("five", "five inserts, a checkpoint each"), 1_500),
        ];

    private async Task<Row> ServiceAsync(EsbHost host, CancellationToken cancellationToken)
    {
        var body = Path.Combine(surroundings.Folder("workflow-service"), "body.json");
        await File.WriteAllBytesAsync(body, OrderPublisher.Body("r0", 1), cancellationToken);
        var request = new WrkRequest($"{host.Url}/service", body, "application/json", Flaw: Flaw);
        var ours = new WrkTarget(
            "workflow as a service",
            $"{host.Collector} collector; {Settings}; {WrkTarget.Connections} callers",
            request,
            Meter.Of(host),
            surroundings
        );
        return new Row("S9", "as a web service", ours, [], Goal.Rate(1_350));
    }

    private static string? Flaw(byte[] answer) => answer.AsSpan().SequenceEqual("served"u8) ? null : "another answer than 'served'";
}
