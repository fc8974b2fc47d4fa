using Esb.IntegrationTests.Faults.Benches;
using Esb.IntegrationTests.Faults.Checking;
using Esb.IntegrationTests.Faults.Load;
using Esb.IntegrationTests.Faults.Results;
using Esb.IntegrationTests.Faults.Sinks;

namespace Esb.IntegrationTests.Faults.Scenarios;

/// <summary>More comes than can be done: the excess is refused early, and what was accepted is done.</summary>
[NonParallelizable]
public sealed class OverloadTests
{
    private const int Places = 30;
    private const int Pairs = 5;

    private static readonly TimeSpan Short = TimeSpan.FromSeconds(10);
    private static readonly TimeSpan Long = TimeSpan.FromSeconds(20);

    [Test, Category("Faults"), Category("Alone"), CancelAfter(900_000), Property("Case", "T-OVL-1")]
    public async Task Ten_times_the_callers_cost_no_goodput_and_lose_nothing(CancellationToken cancellationToken)
    {
        await using var bench = await FaultBench.StartAsync(
            new BenchPlan
            {
                Case = "T-OVL-1",
                Hosts = 1,
                Sinks = async (_, folder) =>
                    [
                        await HttpSink.StartAsync(
                            "web",
                            folder,
                            SinkPromises.None,
                            BenchConfiguration.Parallel(poolSize: 32, processingThreads: 32)
                        ),
                    ],
                Configure = configuration => configuration["endpoints"]!["intake"]!["maxConcurrentCalls"] = Places,
            },
            cancellationToken
        );
        await SendAsync(bench, "warm", Places, Short, cancellationToken);
        await SendAsync(bench, "hot", 10 * Places, Short, cancellationToken);

        // Each overload is compared with what went just before it; the next of those also shows how it is afterwards.
        var (usual, tenTimes) = (new List<LoadPhase>(), new List<LoadPhase>());
        for (var pair = 1; pair <= Pairs; pair++)
        {
            usual.Add(await SendAsync(bench, $"usual{pair}", Places, Short, cancellationToken));
            tenTimes.Add(await SendAsync(bench, $"tentimes{pair}", 10 * Places, Long, cancellationToken));
        }

        usual.Add(await SendAsync(bench, "after", Places, Short, cancellationToken));
        var verdicts = await bench.SettleAsync(cancellationToken);

        var goodput = Medians.Of(usual.Zip(tenTimes, (before, ten) => ten.Goodput / before.Goodput));
        var slower = Medians.Of(usual.Zip(usual.Skip(1), (before, after) => after.AcceptedP50 / before.AcceptedP50));
        var (baseline, overload) = (LoadPhase.MedianOf(usual), LoadPhase.MedianOf(tenTimes));
        bench.Conclude(
            verdicts,
            $"{Places} callers 10 s, then {10 * Places} for 20 s, × {Pairs}; 100 ms after a refusal they call again",
            FormattableString.Invariant(
                $"goodput {goodput:P0} of the usual, p50 afterwards {slower:P0} (medians of pairs); usual {baseline}; ten times {overload}"
            )
        );
        Assert.Multiple(() =>
        {
            Assert.That(goodput, Is.GreaterThanOrEqualTo(0.8), "goodput");
            Assert.That(
                overload.AcceptedP99,
                Is.LessThanOrEqualTo((2 * baseline.AcceptedP99) + TimeSpan.FromMilliseconds(200)),
                "accepted"
            );
            Assert.That(overload.RefusedP99, Is.LessThan(TimeSpan.FromMilliseconds(100)), "refused");
            Assert.That(slower, Is.LessThanOrEqualTo(1.1), "afterwards");
        });
    }

    private static Task<LoadPhase> SendAsync(
        FaultBench bench,
        string name,
        int senders,
        TimeSpan time,
        CancellationToken cancellationToken
    ) =>
        LoadPhase.RunAsync(
            bench,
            new LoadPlan
            {
                Messages = 0,
                Keys = senders,
                Senders = senders,
                Rate = 1_000_000,
                LargestBody = 2_048,
                KeyPrefix = $"{name}-",
                PauseAfterRefusal = TimeSpan.FromMilliseconds(100),
            },
            time,
            cancellationToken
        );
}
