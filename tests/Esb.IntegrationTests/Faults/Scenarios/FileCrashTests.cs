using System.Text.Json.Nodes;
using Esb.IntegrationTests.Faults.Benches;
using Esb.IntegrationTests.Faults.Checking;
using Esb.IntegrationTests.Faults.Load;
using Esb.IntegrationTests.Faults.Nemeses;
using Esb.IntegrationTests.Faults.Sinks;
using Esb.IntegrationTests.Topics;

namespace Esb.IntegrationTests.Faults.Scenarios;

/// <summary>A host dies at each step that a file takes from one folder to the other; every file arrives, and lies in one place.</summary>
[NonParallelizable, Category("Waits"), Property("Case", "T-DEL-4")]
public sealed class FileCrashTests
{
    [Test, Category("Thorough"), Category("FaultsSmoke"), CancelAfter(400_000)]
    public Task Smoke(CancellationToken cancellationToken) => RunAsync(files: 500, rate: 50, deathsAtEach: 1, cancellationToken);

    [Test, Category("Faults"), CancelAfter(900_000)]
    public Task Full(CancellationToken cancellationToken) => RunAsync(files: 5_000, rate: 100, deathsAtEach: 4, cancellationToken);

    private static async Task RunAsync(int files, int rate, int deathsAtEach, CancellationToken cancellationToken)
    {
        var incoming = "";
        await using var bench = await FaultBench.CreateAsync(
            new BenchPlan
            {
                Case = "T-DEL-4",
                Hosts = 1,
                Sinks = (_, folder) =>
                {
                    incoming = Path.Combine(folder, "incoming");
                    return Task.FromResult<IReadOnlyList<ISink>>([new FolderSink("outgoing", folder, SinkPromises.Once, FolderSettings())]);
                },
                Configure = configuration =>
                    configuration["endpoints"]!["intake"] = new JsonObject
                    {
                        ["type"] = "file-inbound",
                        ["folder"] = incoming,
                        ["publish"] = "work.item",
                        ["interval"] = "100ms",
                        ["maxConcurrentCalls"] = 4,
                    },
            }
        );
        Directory.CreateDirectory(incoming);
        await bench.Farm.StartAsync(cancellationToken);
        var outgoing = ((FolderSink)bench.Sinks[0]).Path;
        var points = PointsOf(incoming, outgoing);

        var killing = KillAsync(bench, points, deathsAtEach, cancellationToken);
        await new FileLoad(incoming, bench.Ledger, FaultBench.Seed).RunAsync(files, rate, until: killing, cancellationToken);
        await killing;
        await bench.Farm.WaitForReadyAsync(cancellationToken);
        // a file's sender learns no id
        var verdicts = await bench.SettleAsync(cancellationToken, evidence => evidence with { TerminalStates = null });
        var written = bench.Ledger.Acknowledged;
        await WaitForDoneAsync(incoming, written, cancellationToken);

        var steps = string.Join(", ", points.Select(point => point.Name));
        bench.Conclude(
            verdicts,
            $"{written:N0} files; host killed × {deathsAtEach} at each of {points.Length} steps seen from outside: {steps}"
        );
        Assert.Multiple(() =>
        {
            Assert.That(Directory.GetFiles(incoming), Is.Empty, "files that are still in the folder");
            Assert.That(Claimed(incoming), Is.Empty, "files that are still claimed");
            Assert.That(Directory.GetFiles(Path.Combine(incoming, "done")), Has.Length.EqualTo(written));
            Assert.That(
                Directory
                    .GetFiles(outgoing)
                    .Where(file => !file.EndsWith(".part", StringComparison.Ordinal) && new FileInfo(file).Length == 0),
                Is.Empty,
                "empty files"
            );
        });
    }

    private static FilePoint[] PointsOf(string incoming, string outgoing) =>
        [
            FilePoint.Comes("claim made", incoming, path => path.Contains("/.claimed/", StringComparison.Ordinal)),
            FilePoint.Goes(
                "file claimed",
                incoming,
                path => Path.GetDirectoryName(path) == incoming && path.EndsWith(".txt", StringComparison.Ordinal)
            ),
            FilePoint.Comes("file in done", incoming, path => path.Contains("/done/", StringComparison.Ordinal)),
            FilePoint.Goes("claim released", incoming, path => path.Contains("/.claimed/", StringComparison.Ordinal)),
            FilePoint.Comes("output begun", outgoing, path => !path.EndsWith(".txt", StringComparison.Ordinal)),
            FilePoint.Comes("output in place", outgoing, path => path.EndsWith(".txt", StringComparison.Ordinal)),
            FilePoint.Goes("output's temporary name gone", outgoing, path => !path.EndsWith(".txt", StringComparison.Ordinal)),
        ];

    private static async Task KillAsync(FaultBench bench, FilePoint[] points, int times, CancellationToken cancellationToken)
    {
        var random = new Random(FaultBench.Seed);
        var order = points.SelectMany(point => Enumerable.Repeat(point, times)).ToArray();
        random.Shuffle(order);
        foreach (var point in order)
        {
            await point.WaitAsync(skipped: random.Next(20), cancellationToken);
            await bench.Farm.Hosts[0].KillAsync();
            FaultBench.Log($"kill -9 at: {point.Name}");
            bench.Farm.Hosts[0].Start();
            // two deaths before that, and it is quarantined
            await Eventually.HoldsAsync(() => bench.Farm.Hosts[0].IsRunningAsync("outgoing"), cancellationToken);
        }
    }

    private static async Task WaitForDoneAsync(string incoming, int files, CancellationToken cancellationToken)
    {
        while (Directory.GetFiles(Path.Combine(incoming, "done")).Length < files || Claimed(incoming).Any())
            await Task.Delay(100, cancellationToken);
    }

    private static IEnumerable<string> Claimed(string incoming) =>
        Directory.EnumerateFiles(Path.Combine(incoming, ".claimed"), "*.txt", SearchOption.AllDirectories);

    private static JsonObject FolderSettings()
    {
        var settings = BenchConfiguration.Parallel(poolSize: 4, processingThreads: 4);
        settings["fileName"] = "{header.x-file-name}";
        return settings;
    }
}
