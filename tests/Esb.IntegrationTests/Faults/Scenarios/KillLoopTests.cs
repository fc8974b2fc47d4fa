using Esb.IntegrationTests.Faults.Benches;
using Esb.IntegrationTests.Faults.Checking;
using Esb.IntegrationTests.Faults.Load;
using Esb.IntegrationTests.Faults.Nemeses;
using Esb.IntegrationTests.Faults.Results;
using Esb.IntegrationTests.Faults.Sinks;

namespace Esb.IntegrationTests.Faults.Scenarios;

/// <summary>Hosts, broker and database are killed at random, all under load: what was accepted arrives.</summary>
[NonParallelizable, Property("Case", "T-DEL-1")]
public sealed class KillLoopTests
{
    [Test, Category("FaultsSmoke"), CancelAfter(180_000)]
    public Task Smoke(CancellationToken cancellationToken) =>
        RunAsync(messages: 2_000, rate: 250, kills: (Broker: 1, Host: 2, Database: 1), longestPause: 3, cancellationToken);

    [Test, Category("Faults"), CancelAfter(1_200_000)]
    public Task Full(CancellationToken cancellationToken) =>
        RunAsync(messages: 100_000, rate: 600, kills: (Broker: 8, Host: 12, Database: 6), longestPause: 25, cancellationToken);

    private static async Task RunAsync(
        int messages,
        int rate,
        (int Broker, int Host, int Database) kills,
        double longestPause,
        CancellationToken cancellationToken
    )
    {
        await using var bench = await FaultBench.StartAsync(
            new BenchPlan
            {
                Case = "T-DEL-1",
                Sinks = async (database, folder) =>
                    [
                        await SqlSink.CreateAsync("effects", database, SinkPromises.Once, BenchConfiguration.Parallel()),
                        await HttpSink.StartAsync("web", folder, SinkPromises.None, BenchConfiguration.Parallel()),
                        await SqlSink.CreateAsync("batches", database, SinkPromises.Once, BenchConfiguration.Batched()),
                    ],
            },
            cancellationToken
        );
        ((HttpSink)bench.Sinks[1]).LatencyOf = () => TimeSpan.FromMilliseconds(20); // who dies in between does not know of the effect
        var nemesis = FaultBench
            .NewNemesis()
            .Track(1, longestPause, (ServerFaults.KillBroker(bench.Servers), kills.Broker))
            .Track(1, longestPause, (ServerFaults.KillDatabase(bench.Servers), kills.Database))
            .Track(1, longestPause * 2 / 3, [.. bench.Farm.Hosts.Select(host => (HostFaults.Kill(host), kills.Host / 2))]);

        await bench.RunAsync(
            new LoadPlan
            {
                Messages = messages,
                Keys = 500,
                Rate = rate,
            },
            nemesis,
            cancellationToken
        );
        var verdicts = await bench.SettleAsync(cancellationToken);

        var recovery = await Recovery.MeasureAsync(nemesis.Strikes, bench.Sinks, bench.Ledger.Messages, cancellationToken);
        bench.Conclude(
            verdicts,
            $"{messages:N0} of 0.2 to 64 KiB, {rate}/s; kill -9 broker × {kills.Broker}, host × {kills.Host}, database × {kills.Database}",
            $"recovery {recovery}"
        );
        Assert.That(recovery.Slowest95, Is.LessThan(TimeSpan.FromSeconds(15)), "95 % of the recoveries");
    }
}
