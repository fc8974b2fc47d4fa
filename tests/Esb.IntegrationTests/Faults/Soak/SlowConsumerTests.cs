using System.Text.Json;
using System.Text.Json.Nodes;
using Esb.IntegrationTests.Faults.Benches;
using Esb.IntegrationTests.Faults.Checking;
using Esb.IntegrationTests.Faults.Farm;
using Esb.IntegrationTests.Faults.Load;
using Esb.IntegrationTests.Faults.Sinks;

namespace Esb.IntegrationTests.Faults.Soak;

/// <summary>Publishers send as fast as they can to an endpoint whose external system is slow, for long: what waits stays on the broker, the
/// publishers are held back where its queue is full, and the host takes no more memory.</summary>
[NonParallelizable, Category("Soak")]
public sealed class SlowConsumerTests
{
    private const int High = 2_000;
    private const int Low = 500;
    private const int MostWaiting = 5_000;
    private const double MostMemory = 48;

    private static readonly TimeSpan Slow = TimeSpan.FromMilliseconds(200);
    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(5);

    [Test, CancelAfter(7_200_000)]
    public async Task Memory_stays_flat_and_the_marks_are_crossed_once(CancellationToken cancellationToken)
    {
        var size = SoakSize.OfEnvironment();
        await using var bench = await FaultBench.CreateAsync(
            new BenchPlan
            {
                Case = "slow consumer",
                Hosts = 1,
                Sinks = async (_, folder) => [await HttpSink.StartAsync("web", folder, SinkPromises.None, Settings())],
            }
        );
        var (host, sink, isSlow) = (bench.Farm.Hosts[0], (HttpSink)bench.Sinks[0], true);
        sink.LatencyOf = () => isSlow ? Slow : TimeSpan.Zero;
        host.Set("DOTNET_GCHeapHardLimit", "0x10000000"); // 256 MiB: what would wait in memory does not fit
        await bench.Farm.StartAsync(cancellationToken);
        using var load = bench.Load(
            new LoadPlan
            {
                Messages = 0,
                Keys = 32,
                Senders = 32,
                Rate = 1_000_000,
                PauseAfterRefusal = TimeSpan.FromMilliseconds(100),
            }
        );
        var watch = new SoakWatch(bench, size, () => load.Acknowledged);

        await bench.RunAsync(watching => load.RunAsync(cancellationToken, until: watching), watch.RunAsync, cancellationToken);
        var (waiting, memory) = (await MarkAsync(host, "waiting", cancellationToken), await MarkAsync(host, "memory", cancellationToken));
        isSlow = false;
        await host.Process.WaitAsync(
            async token => !IsCrossed(await MarkAsync(host, "waiting", token)),
            Patience,
            $"to come back to {Low} messages that wait",
            cancellationToken
        );
        var after = await MarkAsync(host, "waiting", cancellationToken);
        var again = await LoadAgainAsync(bench, cancellationToken);
        var verdicts = await bench.SettleAsync(cancellationToken);

        var report = new SoakReport(
            "Slow consumer",
            FormattableString.Invariant($"{size.Time.TotalMinutes:0.#} minutes, the first {size.WarmUp.TotalMinutes:0.#} not measured")
        );
        report.Add("resident memory", "MiB", watch.TrendOf(sample => sample.Memory), MostMemory);
        report.Add("threads", "", watch.TrendOf(sample => sample.Threads), 16);
        report.Add("handles", "", watch.TrendOf(sample => sample.Handles), 32);
        var refusals = load.Codes.Values.Sum();
        report.Conclude(
            watch.Samples,
            $"32 callers as fast as they can, deliveries of {Slow.TotalMilliseconds:0} ms, 4 at once: {load.Acknowledged:N0} accepted, "
                + $"{refusals:N0} refused ({string.Join(", ", load.Codes.Keys)}), {waiting.GetProperty("value").GetDouble():N0} waited at the "
                + $"end; lost {verdicts.Sum(verdict => verdict.Lost)}; the mark of {High:N0} was crossed {Crossings(after)} times, and left at "
                + $"{Low}; that of the memory {Crossings(memory)} times; seed {FaultBench.Seed}."
        );
        Assert.Multiple(() =>
        {
            Assert.That(verdicts.SelectMany(verdict => verdict.Broken), Is.Empty);
            Assert.That(refusals, Is.Positive, "publishers were held back");
            Assert.That(IsCrossed(waiting), "the mark of what waits, while the consumer was slow");
            Assert.That(Crossings(after), Is.EqualTo(1), "crossings of the mark of what waits");
            Assert.That(Crossings(memory), Is.Zero, "crossings of the mark of the memory");
            Assert.That(again, Is.Zero, "refusals after the queue had emptied");
        });
    }

    private static JsonObject Settings()
    {
        var settings = BenchConfiguration.Parallel(poolSize: 4, processingThreads: 4);
        (settings["waitingHigh"], settings["waitingLow"]) = (High, Low);
        settings["queue"] = new JsonObject { ["maxLength"] = MostWaiting };
        return settings;
    }

    // How many were refused.
    private static async Task<int> LoadAgainAsync(FaultBench bench, CancellationToken cancellationToken)
    {
        using var load = bench.Load(
            new LoadPlan
            {
                Messages = 100,
                KeyPrefix = "again",
                Rate = 50,
                LargestBody = 1_024,
            }
        );
        await load.RunAsync(cancellationToken);
        return load.Codes.Values.Sum();
    }

    private static bool IsCrossed(JsonElement mark) => mark.GetProperty("isCrossed").GetBoolean();

    private static long Crossings(JsonElement mark) => mark.GetProperty("crossings").GetInt64();

    private static async Task<JsonElement> MarkAsync(FarmHost host, string name, CancellationToken cancellationToken) =>
        (await host.Process.AskAsync("/api/marks", cancellationToken))
            .GetProperty("items")
            .EnumerateArray()
            .Single(mark => mark.GetProperty("name").GetString() == name);
}
