using Esb.IntegrationTests.Faults.Benches;
using Esb.IntegrationTests.Faults.Checking;
using Esb.IntegrationTests.Faults.Load;
using Esb.IntegrationTests.Faults.Nemeses;
using Esb.IntegrationTests.Faults.Sinks;

namespace Esb.IntegrationTests.Faults.Scenarios;

/// <summary>An operator changes pools, threads and prefetch, pauses and resumes, while hosts, broker and database die.</summary>
[NonParallelizable, Category("WaitsLong"), Property("Case", "live tuning")]
public sealed class TuningTests
{
    private const int LastPrefetch = 77; // more than threads, and no other number here

    private static readonly TimeSpan Soon = TimeSpan.FromSeconds(15);

    [Test, Category("Faults"), CancelAfter(600_000)]
    public async Task Endpoints_are_changed_under_faults_and_nothing_is_lost_doubled_or_reordered(CancellationToken cancellationToken)
    {
        await using var bench = await FaultBench.StartAsync(
            new BenchPlan
            {
                Case = "live tuning",
                Sinks = async (database, _) =>
                    [
                        await SqlSink.CreateAsync(
                            "keyed",
                            database,
                            SinkPromises.Ordered | SinkPromises.Once,
                            BenchConfiguration.OrderedByKey()
                        ),
                        await SqlSink.CreateAsync("loose", database, SinkPromises.Once, BenchConfiguration.Parallel()),
                    ],
            },
            cancellationToken
        );
        using var keyed = new OperatorActs(bench.Farm, "keyed");
        using var loose = new OperatorActs(bench.Farm, "loose");
        var nemesis = FaultBench
            .NewNemesis()
            .Track(1, 20, (ServerFaults.KillBroker(bench.Servers), 3), (ServerFaults.KillDatabase(bench.Servers), 2))
            .Track(
                1,
                12,
                [
                    .. bench.Farm.Hosts.SelectMany(host =>
                        new[] { (HostFaults.Kill(host), 2), (HostFaults.Stop(host), 1), (HostFaults.Pause(host).Lasting(15, 15), 1) }
                    ),
                ]
            )
            .Track(0.5, 3, Changes(keyed))
            .Track(0.5, 3, Changes(loose));

        var accepted = await bench.RunAsync(
            new LoadPlan
            {
                Messages = 15_000,
                Keys = 100,
                Rate = 200,
                LargestBody = 4_096,
            },
            nemesis,
            cancellationToken
        );
        var verdicts = await bench.SettleAsync(cancellationToken);
        await loose.Prefetch(LastPrefetch).StrikeAsync();

        bench.Conclude(
            verdicts,
            $"{accepted:N0}, 100 keys, 200/s, 2 hosts; kill -9 broker × 3, database × 2, host × 4, SIGTERM × 2, SIGSTOP 15 s × 2",
            $"{keyed.Changes + loose.Changes} changes of poolSize, processingThreads, prefetch and paused"
        );
        Assert.That(new[] { keyed.Changes, loose.Changes }, Is.All.GreaterThan(15), "of 36 each; others met nobody who answered");
        await WaitForPrefetchAsync(bench, cancellationToken);
    }

    // The broker itself says so, of the consumer of each host.
    private static async Task WaitForPrefetchAsync(FaultBench bench, CancellationToken cancellationToken)
    {
        var started = TimeProvider.System.GetTimestamp();
        while (true)
        {
            var prefetches = await bench.Records.ReadPrefetchesAsync("loose");
            if (prefetches is [LastPrefetch, LastPrefetch])
                return;
            if (TimeProvider.System.GetElapsedTime(started) > Soon)
                Assert.Fail($"The consumers of both hosts should have prefetch {LastPrefetch}; they have {string.Join(", ", prefetches)}.");
            await Task.Delay(500, cancellationToken);
        }
    }

    private static (Fault Fault, int Times)[] Changes(OperatorActs acts) =>
        [
            (acts.Resize(1, 1), 5),
            (acts.Resize(4, 16), 5),
            (acts.Resize(100, 8), 5),
            (acts.Resize(250, 30), 5),
            (acts.Prefetch(1), 3),
            (acts.Prefetch(500), 3),
            (acts.Pause(), 10),
        ];
}
