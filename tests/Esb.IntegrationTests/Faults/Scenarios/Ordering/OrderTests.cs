using Esb.IntegrationTests.Faults.Benches;
using Esb.IntegrationTests.Faults.Checking;
using Esb.IntegrationTests.Faults.Load;
using Esb.IntegrationTests.Faults.Nemeses;
using Esb.IntegrationTests.Faults.Results;
using Esb.IntegrationTests.Faults.Sinks;

namespace Esb.IntegrationTests.Faults.Scenarios.Ordering;

/// <summary>Two hosts share an ordered endpoint; whichever works dies or stands still again and again, and the order stays.</summary>
[NonParallelizable, Category("FailOver"), Property("Case", "T-ORD-1")]
public sealed class OrderTests
{
    private const string All = "ordered";
    private const string ByKey = "ordered-by-key";

    private static readonly TimeSpan FailOver = TimeSpan.FromSeconds(15);

    [Test, Category("FaultsSmoke"), CancelAfter(180_000)]
    public Task Smoke(CancellationToken cancellationToken) =>
        RunAsync(ByKey, messages: 1_000, rate: 100, Faults(broker: 0, kill: 1, pause: 0, database: 1, longestPause: 3), cancellationToken);

    [TestCase(All, 10_000, 100), TestCase(ByKey, 30_000, 300)]
    [Category("Faults"), CancelAfter(900_000)]
    public Task Full(string delivery, int messages, int rate, CancellationToken cancellationToken) =>
        RunAsync(delivery, messages, rate, Faults(broker: 3, kill: 3, pause: 1, database: 3, longestPause: 20), cancellationToken);

    private static System.Text.Json.Nodes.JsonObject SettingsOf(string delivery) =>
        delivery == All ? BenchConfiguration.Ordered() : BenchConfiguration.OrderedByKey();

    private static Func<FaultBench, Nemesis> Faults(int broker, int kill, int pause, int database, double longestPause) =>
        bench =>
            FaultBench
                .NewNemesis()
                .Track(1, longestPause, (ServerFaults.KillBroker(bench.Servers), broker))
                .Track(1, longestPause, (ServerFaults.KillDatabase(bench.Servers), database))
                .Track(
                    1,
                    longestPause / 2,
                    [
                        .. bench.Farm.Hosts.SelectMany(host =>
                            new[] { (HostFaults.Kill(host), kill), (HostFaults.Pause(host).Lasting(45, 45), pause) }
                        ),
                    ]
                );

    private static async Task RunAsync(
        string delivery,
        int messages,
        int rate,
        Func<FaultBench, Nemesis> faults,
        CancellationToken cancellationToken
    )
    {
        await using var bench = await FaultBench.StartAsync(
            new BenchPlan
            {
                Case = $"T-ORD-1 ({delivery})",
                Sinks = async (database, folder) =>
                    [
                        await SqlSink.CreateAsync("effects", database, SinkPromises.Ordered | SinkPromises.Once, SettingsOf(delivery)),
                        await HttpSink.StartAsync("web", folder, SinkPromises.Ordered, SettingsOf(delivery)),
                    ],
            },
            cancellationToken
        );
        var nemesis = faults(bench);

        var accepted = await bench.RunAsync(
            new LoadPlan
            {
                Messages = messages,
                Keys = 200,
                Rate = rate,
                LargestBody = 8 * 1024,
            },
            nemesis,
            cancellationToken
        );
        var verdicts = await bench.SettleAsync(cancellationToken);

        var recovery = await Recovery.MeasureAsync(nemesis.Strikes, bench.Sinks, bench.Ledger.Messages, cancellationToken);
        var failOver = await Recovery.MeasureFailOverAsync(nemesis.Strikes, bench.Sinks, bench.Ledger.Messages, cancellationToken);
        var done = string.Join(
            ", ",
            nemesis
                .Strikes.GroupBy(strike => strike.Name.Split(' ')[0] + " " + strike.Name.Split(' ')[^1])
                .Select(group => $"{group.Key} × {group.Count()}")
        );
        bench.Conclude(
            verdicts,
            $"{accepted:N0}, 200 keys, {rate}/s, 2 hosts; {nemesis.Strikes.Count} faults: {done}",
            $"recovery {recovery}; fail-over {failOver}"
        );
        Assert.That(failOver.Slowest95, Is.LessThan(FailOver), "95 % of the fail-overs");
    }
}
