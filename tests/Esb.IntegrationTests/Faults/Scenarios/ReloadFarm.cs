using System.Text.Json.Nodes;
using Esb.IntegrationTests.EndToEnd;
using Esb.IntegrationTests.EndToEnd.Hosts;
using Esb.IntegrationTests.Faults.Benches;
using Esb.IntegrationTests.Faults.Checking;
using Esb.IntegrationTests.Faults.Load;
using Esb.IntegrationTests.Faults.Sinks;
using Npgsql;

namespace Esb.IntegrationTests.Faults.Scenarios;

/// <summary>A farm that is given another configuration again and again: endpoints that are changed, and others that are paused, stopped,
/// parked, of a single instance, or get their dead letters again.</summary>
internal static class ReloadFarm
{
    /// <summary>Where messages for the endpoint <c>many</c> alone are sent to.</summary>
    public const string ManyPath = "/many";

    /// <summary>The subject of these.</summary>
    public const string ManySubject = "many.item";

    private static readonly string[] ParkedLines = ["k1", "k2"];

    public static async Task<IReadOnlyList<ISink>> ChangedAsync(NpgsqlDataSource database) =>
        [
            await SqlSink.CreateAsync("ordered", database, SinkPromises.Ordered | SinkPromises.Once, BenchConfiguration.Ordered()),
            await SqlSink.CreateAsync("keyed", database, SinkPromises.Ordered | SinkPromises.Once, BenchConfiguration.OrderedByKey()),
            await SqlSink.CreateAsync("loose", database, SinkPromises.Once, BenchConfiguration.Parallel()),
        ];

    // Those that stay: of one instance, paused, stopped by a message, with keys that are parked, and with dead letters.
    private static async Task<IReadOnlyList<ISink>> AllAsync(NpgsqlDataSource database)
    {
        var single = BenchConfiguration.Parallel();
        single["singleInstance"] = true;
        var stopped = BenchConfiguration.Ordered();
        stopped["retry"] = new JsonObject { ["immediate"] = 0 };
        var parked = BenchConfiguration.OrderedByKey();
        var letters = BenchConfiguration.Parallel();
        letters["retry"] = new JsonObject { ["immediate"] = 0 };
        return
        [
            .. await ChangedAsync(database),
            await SqlSink.CreateAsync("single", database, SinkPromises.Once, single),
            await SqlSink.CreateAsync("held", database, SinkPromises.Once, BenchConfiguration.Parallel()),
            await SqlSink.CreateAsync("stopped", database, SinkPromises.Ordered | SinkPromises.Once, stopped),
            await SqlSink.CreateAsync("parked", database, SinkPromises.Ordered | SinkPromises.Once, parked),
            await SqlSink.CreateAsync("letters", database, SinkPromises.Once, letters),
        ];
    }

    // And one that stays and gets most of a large load.
    private static async Task<IReadOnlyList<ISink>> WithManyAsync(NpgsqlDataSource database)
    {
        var many = BenchConfiguration.Batched();
        many["subscribe"] = new JsonArray("many.#");
        var sinks = await AllAsync(database);
        sinks.OfType<SqlSink>().Single(sink => sink.Endpoint == "loose").Marked();
        return [.. sinks, (await SqlSink.CreateAsync("many", database, SinkPromises.Once, many)).Marked()];
    }

    public static void ConfigureStored(JsonObject configuration)
    {
        Configure(configuration);
        configuration["management"] = new JsonObject { ["configuration"] = "store" };
        configuration["topics"]!["many"] = configuration["topics"]!["work"]!.DeepClone();
        configuration["processes"]!["in-many"] = Intake(ManySubject);
        configuration["parties"]!["shop"]!["publish"]!.AsArray().Add(ManySubject);
        configuration["endpoints"]!["many-intake"] = new JsonObject
        {
            ["type"] = "http-inbound",
            ["path"] = ManyPath,
            ["process"] = "in-many",
        };
        Mark(configuration, "0");
    }

    public static void Configure(JsonObject configuration)
    {
        configuration["processes"] = new JsonObject { ["in"] = Intake("work.item") };
        configuration["parties"] = new JsonObject
        {
            ["shop"] = new JsonObject { ["apiKeys"] = new JsonArray(KeyOf(0)), ["publish"] = new JsonArray("work.item") },
        };
        var intake = configuration["endpoints"]!["intake"]!.AsObject();
        intake.Remove("publish");
        intake["process"] = "in";
    }

    /// <summary>Has messages show which version took them in, and which one delivered them at the endpoint <c>loose</c>.</summary>
    public static void Mark(JsonObject configuration, string mark)
    {
        foreach (var process in (string[])["in", "in-many"])
            configuration["processes"]![process]![0]!["set"]!["headers"]![FaultHeaders.Mark] = mark;
        configuration["endpoints"]!["loose"]!["parameters"]!["own"] = new JsonObject { ["value"] = mark };
    }

    private static JsonArray Intake(string subject) =>
        [
            new JsonObject { ["set"] = new JsonObject { ["headers"] = new JsonObject { [FaultHeaders.Mark] = "0" } } },
            new JsonObject { ["publish"] = subject },
        ];

    // A farm in which each kind of endpoint is in its state.
    public static async Task<FaultBench> StartAsync(CancellationToken cancellationToken, bool isStored = false, int hosts = 2)
    {
        var bench = await FaultBench.StartAsync(
            new BenchPlan
            {
                Case = "T-CFG-1",
                Hosts = hosts,
                Sinks = (database, _) => isStored ? WithManyAsync(database) : AllAsync(database),
                Configure = isStored ? ConfigureStored : Configure,
            },
            cancellationToken
        );
        await EsbAsync(bench, cancellationToken, "endpoints", "pause", "held");
        await QueryAsync(bench, "alter table letters add constraint closed check (id = '') not valid", cancellationToken);
        using (
            var load = bench.Load(
                new LoadPlan
                {
                    Messages = 2_000,
                    Keys = 20,
                    KeyPrefix = "l",
                    Rate = 300,
                    LargestBody = 1_024,
                }
            )
        )
            await load.RunAsync(cancellationToken);
        while ((await bench.Records.ReadKeptAsync("letters", cancellationToken)).Count < bench.Ledger.Acknowledged)
            await Task.Delay(200, cancellationToken);
        await QueryAsync(bench, "alter table letters drop constraint closed", cancellationToken);
        await QueryAsync(bench, "alter table stopped add constraint closed check (id = '') not valid", cancellationToken);
        await QueryAsync(
            bench,
            "alter table parked add constraint closed check (split_part(id, '-', 1) not in ('k1', 'k2')) not valid",
            cancellationToken
        );
        await EsbAsync(bench, cancellationToken, "dead-letters", "replay", "--endpoint", "letters", "--reason", "mended", "--rate", "10");
        return bench;
    }

    // What stood still goes on.
    public static async Task<IReadOnlyList<Verdict>> SettleAsync(
        FaultBench bench,
        CancellationToken cancellationToken,
        bool isLarge = false
    )
    {
        await QueryAsync(bench, "alter table stopped drop constraint closed", cancellationToken);
        await QueryAsync(bench, "alter table parked drop constraint closed", cancellationToken);
        foreach (var line in ParkedLines)
            await EsbAsync(bench, cancellationToken, "parked", "release", "parked", line, "--reason", "mended");
        await EsbAsync(bench, cancellationToken, "endpoints", "resume", "held");
        await EsbAsync(bench, cancellationToken, "parked", "release", "stopped", "*", "--reason", "mended");
        if (isLarge)
            await bench.WaitForEmptyQueuesAsync(cancellationToken); // what came for it meanwhile takes longer than stuck messages are given
        return await bench.SettleAsync(
            cancellationToken,
            evidence =>
                evidence.Endpoint == "letters"
                    ? evidence with
                    {
                        Kept = new HashSet<Guid>(),
                        TerminalStates = null,
                    }
                    : evidence with
                    {
                        Kept = new HashSet<Guid>(),
                    },
            (sink, message) => (sink.Endpoint == "many") == (message.Subject == ManySubject)
        );
    }

    // One thing at a time.
    public static void Change(JsonObject configuration, int round)
    {
        var endpoints = configuration["endpoints"]!;
        switch (round % 7)
        {
            case 0:
                endpoints["loose"]!["retry"]!["immediate"] = 1 + (round % 5);
                break;
            case 1:
                endpoints["keyed"]!["timeout"] = $"{30 + (round % 100)}s";
                break;
            case 2:
                endpoints["ordered"]!["subscribe"] = new JsonArray("work.item", $"work.round{round}");
                break;
            case 3:
                configuration["processes"]!["in"]![0]!["set"]!["headers"]![FaultHeaders.Mark] = $"{round}";
                break;
            case 4:
                configuration["parties"]!["shop"]!["apiKeys"] = new JsonArray(KeyOf(round));
                break;
            case 5:
                configuration["parties"]!["shop"]!["publish"] = new JsonArray("work.item", $"work.round{round}");
                break;
            default:
                endpoints["intake"]!["timeout"] = $"{40 + (round % 100)}s";
                break;
        }
    }

    // Secrets stand in variables, of which a host has two.
    private static string KeyOf(int round) =>
        $"${{env:{(round % 2 == 0 ? BenchConfiguration.BrokerVariable : BenchConfiguration.StoreVariable)}}}";

    private static Task QueryAsync(FaultBench bench, string sql, CancellationToken cancellationToken) =>
        bench.Database.QueryAsync<int>(sql, null, cancellationToken);

    private static async Task EsbAsync(FaultBench bench, CancellationToken cancellationToken, params string[] arguments)
    {
        var host = bench.Farm.Hosts[0];
        var (exitCode, _, error) = await CommandLine.RunAsync(
            host.Folder,
            cancellationToken,
            [.. arguments, "--url", host.Process.Management.OriginalString]
        );
        Assert.That(exitCode, Is.Zero, error);
    }
}
