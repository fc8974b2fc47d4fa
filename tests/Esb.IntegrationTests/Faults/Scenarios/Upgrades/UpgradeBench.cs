using System.Text.Json.Nodes;
using Esb.IntegrationTests.Faults.Benches;
using Esb.IntegrationTests.Faults.Checking;
using Esb.IntegrationTests.Faults.Load;
using Esb.IntegrationTests.Faults.Sinks;

namespace Esb.IntegrationTests.Faults.Scenarios.Upgrades;

/// <summary>Two hosts of the release before, with a sink for each promise that a change of releases could break.</summary>
internal static class UpgradeBench
{
    /// <summary>The sink of workflows, which publish a message of their own for each that comes.</summary>
    private const string Told = "told";

    /// <summary>Ends with what strikes.</summary>
    public static readonly LoadPlan Load = new()
    {
        Messages = 0,
        Keys = 100,
        Rate = 60,
        LargestBody = 4_096,
    };

    public static Task<FaultBench> StartAsync(string name, EarlierRelease earlier, CancellationToken cancellationToken) =>
        FaultBench.StartAsync(
            new BenchPlan
            {
                Case = name,
                Program = earlier.Program,
                Sinks = async (database, folder) =>
                    [
                        await HttpSink.StartAsync("web", folder, SinkPromises.Ordered, BenchConfiguration.Ordered()),
                        await SqlSink.CreateAsync(
                            "keyed",
                            database,
                            SinkPromises.Ordered | SinkPromises.Once,
                            BenchConfiguration.OrderedByKey()
                        ),
                        await SqlSink.CreateAsync("single", database, SinkPromises.Once, SingleInstance()),
                        await SqlSink.CreateAsync("batches", database, SinkPromises.Once, BenchConfiguration.Batched()),
                        await SqlSink.CreateAsync(Told, database, SinkPromises.Once, TellSettings()),
                    ],
                Configure = Configure,
            },
            cancellationToken
        );

    /// <summary>Waits for every message, and fails where one was lost, doubled or reordered, also where only at-least-once is
    /// promised: no host died.</summary>
    public static async Task ConcludeAsync(FaultBench bench, string size, string notes, CancellationToken cancellationToken)
    {
        // what a workflow publishes has an id of its own, of which the ledger knows nothing
        var verdicts = await bench.SettleAsync(
            cancellationToken,
            evidence => evidence.Endpoint == Told ? evidence with { TerminalStates = null } : evidence
        );

        bench.Conclude(verdicts, size, notes);
        Assert.That(verdicts.Where(verdict => verdict.Duplicated > 0).Select(verdict => verdict.Endpoint), Is.Empty, "doubled");
        Assert.That(verdicts.Select(verdict => verdict.Acknowledged), Has.All.Positive);
    }

    private static JsonObject SingleInstance()
    {
        var settings = BenchConfiguration.Parallel();
        settings["singleInstance"] = true;
        return settings;
    }

    private static JsonObject TellSettings()
    {
        var settings = BenchConfiguration.Parallel();
        settings["subscribe"] = new JsonArray("told.#");
        return settings;
    }

    // Each message begins an instance on one release that ends, some seconds later, on whichever runs then.
    private static void Configure(JsonObject configuration)
    {
        configuration["topics"]!["told"] = new JsonObject();
        configuration["workflows"] = new JsonObject
        {
            ["tell"] = new JsonObject
            {
                ["start"] = "work.item",
                ["steps"] = new JsonArray(
                    new JsonObject { ["id"] = "wait", ["delay"] = "5s" },
                    new JsonObject { ["id"] = "tell", ["publish"] = "told.item" }
                ),
            },
        };
    }
}
