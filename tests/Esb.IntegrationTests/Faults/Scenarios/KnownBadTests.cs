using Esb.IntegrationTests.Faults.Benches;
using Esb.IntegrationTests.Faults.Checking;
using Esb.IntegrationTests.Faults.Load;
using Esb.IntegrationTests.Faults.Nemeses;
using Esb.IntegrationTests.Faults.Sinks;

namespace Esb.IntegrationTests.Faults.Scenarios;

/// <summary>The proof that the suite can fail: a host that acknowledges before it has delivered.</summary>
[NonParallelizable]
public sealed class KnownBadTests
{
    [Test, Category("FaultsSmoke"), CancelAfter(180_000)]
    public async Task Host_that_acknowledges_before_the_effect_is_found_to_lose_messages(CancellationToken cancellationToken)
    {
        await using var bench = await FaultBench.StartAsync(
            new BenchPlan
            {
                Case = "known-bad",
                Hosts = 1,
                Program = Repository.KnownBadHost,
                Sinks = async (_, folder) => [await HttpSink.StartAsync("web", folder, SinkPromises.None, BenchConfiguration.Parallel())],
            },
            cancellationToken);
        ((HttpSink)bench.Sinks[0]).LatencyOf = () => TimeSpan.FromMilliseconds(200); // so that some are under way when the host dies
        var nemesis = FaultBench.NewNemesis().Track(0.5, 1, (HostFaults.Kill(bench.Farm.Hosts[0]), 1));

        await bench.RunAsync(new LoadPlan { Messages = 200, Rate = 200 }, nemesis, cancellationToken);
        await bench.WaitForEmptyQueuesAsync(cancellationToken);
        var verdict = (await bench.CheckAsync(cancellationToken)).Single();

        FaultBench.Log($"known-bad {verdict}");
        Assert.Multiple(() =>
        {
            Assert.That(verdict.Lost, Is.Positive);
            Assert.That(verdict.Broken, Is.Not.Empty);
        });
    }
}
