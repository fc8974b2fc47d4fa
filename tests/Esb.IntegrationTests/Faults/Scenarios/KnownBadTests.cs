using Esb.IntegrationTests.Faults.Benches;
using Esb.IntegrationTests.Faults.Checking;
using Esb.IntegrationTests.Faults.Load;
using Esb.IntegrationTests.Faults.Sinks;

namespace Esb.IntegrationTests.Faults.Scenarios;

/// <summary>The proof that the suite can fail: a host that acknowledges before it has delivered.</summary>
[NonParallelizable]
public sealed class KnownBadTests
{
    [Test, Category("Thorough"), Category("FaultsSmoke"), CancelAfter(180_000)]
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
            cancellationToken
        );
        var sink = (HttpSink)bench.Sinks[0];
        sink.Refusal = async (_, aborted) =>
        {
            await Task.Delay(TimeSpan.FromSeconds(3), aborted); // before the effect
            return null;
        };

        var sending = bench.RunAsync(new LoadPlan { Messages = 200, Rate = 200 }, FaultBench.NewNemesis(), cancellationToken);
        while (sink.Attempts.Count < 20)
            await Task.Delay(10, cancellationToken);
        await bench.Farm.Hosts[0].KillAsync(); // with these under way, which it has acknowledged
        bench.Farm.Hosts[0].Start();
        await sending;
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
