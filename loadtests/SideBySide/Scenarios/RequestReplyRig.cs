using System.Text;
using SideBySide.Measuring;
using SideBySide.Servers;
using SideBySide.Targets;

namespace SideBySide.Scenarios;

/// <summary>S5: HTTP to a topic, a query of 20 rows, and the reply; with a pool of 100, of 1, and a query that takes 5 ms.</summary>
internal sealed class RequestReplyRig(Surroundings surroundings, TestServers servers) : IRig
{
    private const string Audit = "classic queue, transient requests, every message recorded in the audit trail (disk, then PostgreSQL)";
    private const string Wide = $"pool of 100, 32 threads; {Audit}";
    private const string Serial = $"pool of 1, 1 thread, prefetch 32; {Audit}";
    private const string ByHand = "RabbitMQ.Client and Npgsql by hand: confirms, one ack for each, no audit";

    public IReadOnlyList<string> Scenarios { get; } = ["S5"];

    public async Task RunAsync(IReadOnlySet<string> wanted, Func<Contest, Task> hold, CancellationToken cancellationToken)
    {
        var request = Path.Combine(surroundings.Folder("request"), "request.json");
        await File.WriteAllTextAsync(request, "{\"country\":\"Germany\"}", cancellationToken);
        await using var topics = await TopicServers.StartAsync(surroundings, servers, cancellationToken);
        await using var wide = await topics.HostAsync("ask-100", [], cancellationToken);
        await using var serial = await topics.HostAsync(
            "ask-1",
            [new("customers-db", 1, 1), new("customers-slow-db", 1, 1)],
            cancellationToken
        );
        await HoldWideAsync(topics, wide, request, hold, cancellationToken);
        await HoldSerialAsync(topics, serial, request, hold, cancellationToken);
        var slow = new Row(
            "S5",
            "a query of 5 ms",
            Ours("pool of 100, 5 ms", wide, "customers-slow", Wide, request, warmKey: "pool of 100"),
            [Ours("pool of 1, 5 ms", serial, "customers-slow", Serial, request, warmKey: "pool of 1")],
            Goal.Ratio(3)
        );
        await hold(new Contest("S5, a query of 5 ms", [slow]));
    }

    private async Task HoldWideAsync(
        TopicServers topics,
        EsbHost host,
        string request,
        Func<Contest, Task> hold,
        CancellationToken cancellationToken
    )
    {
        await using var bare = await topics.BareAsync(concurrency: 100, connections: 8, cancellationToken);
        await using var camel = await Side.TryAsync(
            "Camel",
            () => CamelServer.StartAsync(surroundings, servers, topics.Database, [], cancellationToken)
        );
        var ours = Ours("pool of 100", host, "customers", Wide, request);
        await hold(
            new Contest(
                "S5, pool of 100",
                [
                    new("S5", "pool of 100", ours, [Camel(camel, request)], Goal.Ratio(2.2)),
                    new("S5", "pool of 100", ours, [Bare("bare client, 100 at once", bare, request)], Goal.Ratio(0.6)),
                ]
            )
        );
    }

    private async Task HoldSerialAsync(
        TopicServers topics,
        EsbHost host,
        string request,
        Func<Contest, Task> hold,
        CancellationToken cancellationToken
    )
    {
        await using var bare = await topics.BareAsync(concurrency: 1, connections: 1, cancellationToken);
        var ours = Ours("pool of 1", host, "customers", Serial, request);
        await hold(new Contest("S5, pool of 1", [new("S5", "pool of 1", ours, [Bare("serial loop", bare, request)], Goal.Ratio(0.9))]));
    }

    /// <summary>What is wrong with an answer that must hold the 20 customers, in whatever form; null where nothing is.</summary>
    internal static string? Flaw(byte[] answer)
    {
        var rows = Encoding.UTF8.GetString(answer).Split("Germany").Length - 1;
        return rows == 20 ? null : $"{rows} rows in place of 20";
    }

    private WrkTarget Ours(string name, EsbHost host, string path, string settings, string request, string? warmKey = null) =>
        new(
            name,
            $"{host.Collector} collector; {settings}",
            new WrkRequest($"{host.Url}/{path}", request, "application/json", Flaw),
            Meter.Of(host),
            surroundings
        )
        {
            WarmKey = warmKey ?? name,
        };

    private WrkTarget Bare(string name, BareClient bare, string request) =>
        new(
            name,
            ByHand,
            new WrkRequest($"{bare.Url}/customers", request, "application/json", Flaw),
            new Meter(() => bare.ProcessorTime, bare.Probe),
            surroundings
        );

    private ITarget Camel(Side<CamelServer> camel, string request) =>
        camel.Target(server => new WrkTarget(
            "Camel",
            $"{CamelServer.Settings}; 100 consumers, prefetch 50, 50 database connections, direct reply-to",
            new WrkRequest($"{server.Url}/rr", request, "text/plain", Flaw),
            new Meter(() => server.ProcessorTime),
            surroundings
        ));
}
