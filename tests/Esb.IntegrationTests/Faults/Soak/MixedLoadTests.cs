using System.Text.Json.Nodes;
using Esb.IntegrationTests.EndToEnd.Hosts;
using Esb.IntegrationTests.Faults.Benches;
using Esb.IntegrationTests.Faults.Checking;
using Esb.IntegrationTests.Faults.Farm;
using Esb.IntegrationTests.Faults.Load;
using Esb.IntegrationTests.Faults.Sinks;

namespace Esb.IntegrationTests.Faults.Soak;

/// <summary>One host mediates calls, delivers topics in the order of keys, runs workflows and moves files, for long: it takes no more in the
/// end than in the beginning.</summary>
[NonParallelizable, Category("Soak")]
public sealed class MixedLoadTests
{
    private const string Told = "told"; // by workflows
    private const string Written = "written"; // from files
    private const int Files = 20; // per second

    // Generous: what is looked for is what grows without an end.
    private const double MostMemory = 64;
    private const double MostThreads = 16;
    private const double MostHandles = 32;
    private const double MostPassing = 32;

    [Test, CancelAfter(7_200_000)]
    public async Task Long_mixed_load_leaves_the_size_of_the_host_as_it_is(CancellationToken cancellationToken)
    {
        var (size, incoming) = (SoakSize.OfEnvironment(), "");
        await using var backend = await EchoBackend.StartAsync();
        await using var bench = await FaultBench.CreateAsync(
            new BenchPlan
            {
                Case = "soak",
                Hosts = 1,
                Sinks = async (database, folder) =>
                {
                    incoming = Directory.CreateDirectory(Path.Combine(folder, "incoming")).FullName;
                    return
                    [
                        await SqlSink.CreateAsync(
                            "keyed",
                            database,
                            SinkPromises.Ordered | SinkPromises.Once,
                            BenchConfiguration.OrderedByKey()
                        ),
                        await HttpSink.StartAsync("web", folder, SinkPromises.None, BenchConfiguration.Parallel()),
                        await SqlSink.CreateAsync(Told, database, SinkPromises.Once, Subscribing("told.#")),
                        new FolderSink(Written, folder, SinkPromises.None, Subscribing("files.#", "{header.x-file-name}")),
                    ];
                },
                Configure = configuration => Configure(configuration, backend.Url, incoming),
            }
        );
        var host = bench.Farm.Hosts[0];
        host.Set("DOTNET_GCHeapHardLimit", "0x20000000"); // 512 MiB, of which marks are a share
        await bench.Farm.StartAsync(cancellationToken);
        using var topics = bench.Load(
            new LoadPlan
            {
                Messages = 0,
                Keys = 200,
                Rate = size.Rate,
                LargestBody = 16 * 1_024,
            }
        );
        using var calls = new SoakCalls([new Uri(host.Public, "/relay"), new Uri(host.Public, "/call")], backend.Url);
        var files = new FileLoad(incoming, bench.Ledger, FaultBench.Seed);
        var watch = new SoakWatch(bench, size, () => topics.Acknowledged);

        await bench.RunAsync(
            watching =>
                Task.WhenAll(
                    topics.RunAsync(cancellationToken, until: watching),
                    calls.RunAsync(size.Rate, watching, cancellationToken),
                    files.RunAsync(0, Files, watching, cancellationToken)
                ),
            watch.RunAsync,
            cancellationToken
        );
        var verdicts = await bench.SettleAsync(
            cancellationToken,
            // their senders learn no id of what arrives
            evidence => evidence.Endpoint is Told or Written ? evidence with { TerminalStates = null } : evidence,
            (sink, message) => sink.Endpoint == Written == (message.Key == "file")
        );

        Report(size, watch, calls, verdicts, await CrossingsAsync(host, cancellationToken));
        Assert.That(verdicts.SelectMany(verdict => verdict.Broken), Is.Empty);
        Assert.That(calls.Wrong, Is.Empty);
    }

    private static void Report(SoakSize size, SoakWatch watch, SoakCalls calls, IReadOnlyList<Verdict> verdicts, int crossings)
    {
        var report = new SoakReport(
            "Mixed load",
            FormattableString.Invariant($"{size.Time.TotalMinutes:0.#} minutes, the first {size.WarmUp.TotalMinutes:0.#} not measured")
        );
        report.Add("resident memory", "MiB", watch.TrendOf(sample => sample.Memory), MostMemory);
        report.Add("threads", "", watch.TrendOf(sample => sample.Threads), MostThreads);
        report.Add("handles", "", watch.TrendOf(sample => sample.Handles), MostHandles);
        report.Add("tables that messages pass through", "MiB", watch.TrendOf(sample => sample.PassingTables), MostPassing);
        var store = watch.StorePerMessage();
        report.Add("store, for each message", "KiB", store.First, store.Second, (2 * store.First) + 1);
        var direct = calls.P99(isDirect: true, size.WarmUp);
        var called = calls.P99(isDirect: false, size.WarmUp);
        var slower = Math.Max(1, direct.Last / direct.First); // the machine itself
        report.Add("p99 of a call past the host", "ms", direct.First.TotalMilliseconds, direct.Last.TotalMilliseconds, bound: null);
        report.Add(
            "p99 of a call",
            "ms",
            called.First.TotalMilliseconds,
            called.Last.TotalMilliseconds,
            (3 * slower * called.First.TotalMilliseconds) + 250
        );
        report.Conclude(
            watch.Samples,
            $"{calls.Count:N0} calls, {verdicts.First(verdict => verdict.IsOrdered).Acknowledged:N0} messages of 200 keys, each to two "
                + $"endpoints and one workflow, {verdicts.Single(verdict => verdict.Endpoint == Written).Acknowledged:N0} files; lost "
                + $"{verdicts.Sum(verdict => verdict.Lost)}, doubled {verdicts.Sum(verdict => verdict.Duplicated)}, reordered "
                + $"{verdicts.Where(verdict => verdict.IsOrdered).Sum(verdict => verdict.Reordered)}; marks crossed {crossings} times; "
                + $"seed {FaultBench.Seed}."
        );
    }

    private static async Task<int> CrossingsAsync(FarmHost host, CancellationToken cancellationToken) =>
        (await host.Process.AskAsync("/api/marks", cancellationToken))
            .GetProperty("items")
            .EnumerateArray()
            .Where(mark => mark.GetProperty("name").GetString() is "memory" or "inFlight")
            .Sum(mark => mark.GetProperty("crossings").GetInt32());

    private static JsonObject Subscribing(string subject, string? fileName = null)
    {
        var settings = BenchConfiguration.Parallel(poolSize: 8, processingThreads: 8);
        settings["subscribe"] = new JsonArray(subject);
        if (fileName is not null)
            settings["fileName"] = fileName;
        return settings;
    }

    private static void Configure(JsonObject configuration, Uri backend, string incoming)
    {
        configuration["topics"]!["told"] = new JsonObject();
        configuration["topics"]!["files"] = new JsonObject();
        configuration["processes"] = new JsonObject { ["call"] = new JsonArray(new JsonObject { ["call"] = "backend" }) };
        configuration["workflows"] = new JsonObject
        {
            ["tell"] = new JsonObject
            {
                ["start"] = "work.item",
                ["steps"] = new JsonArray(
                    new JsonObject { ["id"] = "wait", ["delay"] = "2s" },
                    new JsonObject { ["id"] = "tell", ["publish"] = "told.item" }
                ),
            },
        };
        var endpoints = configuration["endpoints"]!;
        endpoints["backend"] = new JsonObject
        {
            ["type"] = "http-outbound",
            ["url"] = backend.AbsoluteUri,
            ["poolSize"] = 64,
        };
        endpoints["relay"] = new JsonObject
        {
            ["type"] = "http-inbound",
            ["path"] = "/relay",
            ["relay"] = "backend",
        };
        endpoints["call"] = new JsonObject
        {
            ["type"] = "http-inbound",
            ["path"] = "/call",
            ["mode"] = "request-reply",
            ["process"] = "call",
        };
        endpoints["files"] = new JsonObject
        {
            ["type"] = "file-inbound",
            ["folder"] = incoming,
            ["publish"] = "files.item",
            ["interval"] = "200ms",
        };
    }
}
