using System.Text.Json.Nodes;
using Esb.IntegrationTests.Faults.Benches;
using Esb.IntegrationTests.Faults.Checking;
using Esb.IntegrationTests.Faults.Load;
using Esb.IntegrationTests.Faults.Nemeses;
using Esb.IntegrationTests.Faults.Sinks;

namespace Esb.IntegrationTests.Faults.Scenarios;

/// <summary>A host dies at each step that a file takes from one folder to the other; every file arrives, and lies in one place.</summary>
[NonParallelizable, Property("Case", "T-DEL-4")]
public sealed class FileCrashTests
{
    [Test, Category("FaultsSmoke"), CancelAfter(180_000)]
    public Task Smoke(CancellationToken cancellationToken) => RunAsync(files: 400, rate: 200, deathsAtEach: 1, cancellationToken);

    [Test, Category("Faults"), CancelAfter(900_000)]
    public Task Full(CancellationToken cancellationToken) => RunAsync(files: 5_000, rate: 100, deathsAtEach: 8, cancellationToken);

    private static async Task RunAsync(int files, int rate, int deathsAtEach, CancellationToken cancellationToken)
    {
        var incoming = "";
        await using var bench = await FaultBench.CreateAsync(new BenchPlan
        {
            Case = "T-DEL-4",
            Hosts = 1,
            Sinks = (_, folder) =>
            {
                incoming = Path.Combine(folder, "incoming");
                return Task.FromResult<IReadOnlyList<ISink>>([new FolderSink("outgoing", folder, SinkPromises.Once, FolderSettings())]);
            },
            Configure = configuration => configuration["endpoints"]!["intake"] = new JsonObject
            {
                ["type"] = "file-inbound", ["folder"] = incoming, ["publish"] = "work.item", ["interval"] = "100ms", ["maxConcurrentCalls"] = 4,
            },
        });
        Directory.CreateDirectory(incoming);
        await bench.Farm.StartAsync(cancellationToken);
        var outgoing = ((FolderSink)bench.Sinks[0]).Path;
        FilePoint[] points =
        [
            new("claim made", incoming, WatcherChangeTypes.Created, path => path.Contains("/.claimed/", StringComparison.Ordinal)),
            new("file claimed", incoming, WatcherChangeTypes.Renamed, path => path.Contains("/.claimed/", StringComparison.Ordinal)),
            new("file done", incoming, WatcherChangeTypes.Renamed, path => path.Contains("/done/", StringComparison.Ordinal)),
            new("claim released", incoming, WatcherChangeTypes.Deleted, path => path.Contains("/.claimed/", StringComparison.Ordinal)),
            new("output begun", outgoing, WatcherChangeTypes.Created, _ => true),
            new("output complete", outgoing, WatcherChangeTypes.Renamed, _ => true),
        ];

        using var enough = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        var writing = new FileLoad(incoming, bench.Ledger, FaultBench.Seed).RunAsync(files, rate, cancellationToken);
        var deaths = await KillAsync(bench, points, deathsAtEach, writing, enough);
        await writing;
        await bench.Farm.WaitForReadyAsync(cancellationToken);
        var verdicts = await bench.SettleAsync(cancellationToken, evidence => evidence with { TerminalStates = null }); // a file's sender learns no id
        await WaitForDoneAsync(incoming, files, cancellationToken);

        var size = $"{files:N0} files; the host killed when it had just: {string.Join(", ", deaths.Select(death => $"{death.Key} × {death.Value}"))}";
        bench.Conclude(verdicts, size);
        Assert.Multiple(() =>
        {
            Assert.That(deaths.Values, Has.All.Positive, "it died at each step");
            Assert.That(Directory.GetFiles(incoming), Is.Empty, "files that are still in the folder");
            Assert.That(Claimed(incoming), Is.Empty, "files that are still claimed");
            Assert.That(Directory.GetFiles(Path.Combine(incoming, "done")), Has.Length.EqualTo(files));
            Assert.That(Directory.GetFiles(outgoing).Where(file => new FileInfo(file).Length == 0), Is.Empty, "empty files");
        });
    }

    // As long as files come: one step after the other, each at a random moment.
    private static async Task<Dictionary<string, int>> KillAsync(FaultBench bench, FilePoint[] points, int times, Task writing, CancellationTokenSource enough)
    {
        var random = new Random(FaultBench.Seed);
        var deaths = points.ToDictionary(point => point.Name, _ => 0);
        var order = points.SelectMany(point => Enumerable.Repeat(point, times)).ToArray();
        random.Shuffle(order);
        foreach (var point in order)
        {
            var reached = point.WaitAsync(random.Next(20), enough.Token);
            if (await Task.WhenAny(reached, writing) == writing && !reached.IsCompleted) await Task.WhenAny(reached, Task.Delay(TimeSpan.FromSeconds(5)));
            if (!reached.IsCompletedSuccessfully) break;
            await bench.Farm.Hosts[0].KillAsync();
            FaultBench.Log($"kill -9 at: {point.Name}");
            deaths[point.Name]++;
            bench.Farm.Hosts[0].Start();
        }

        await enough.CancelAsync();
        return deaths;
    }

    private static async Task WaitForDoneAsync(string incoming, int files, CancellationToken cancellationToken)
    {
        while (Directory.GetFiles(Path.Combine(incoming, "done")).Length < files || Claimed(incoming).Any()) await Task.Delay(100, cancellationToken);
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
