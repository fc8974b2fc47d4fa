using System.Text.Json.Nodes;
using Esb.IntegrationTests.Faults.Benches;
using Esb.IntegrationTests.Faults.Checking;
using Esb.IntegrationTests.Faults.Clusters;
using Esb.IntegrationTests.Faults.Ledgers;
using Esb.IntegrationTests.Faults.Load;
using Esb.IntegrationTests.Faults.Nemeses;
using Esb.IntegrationTests.Faults.Results;
using Esb.IntegrationTests.Faults.Sinks;
using Esb.Topics.RabbitMq;
using Esb.Topics.RabbitMq.Connections;

namespace Esb.IntegrationTests.Faults.Scenarios;

/// <summary>Three brokers, of which some are cut off, killed, frozen and restarted under load: nothing is lost, and nobody has to
/// help.</summary>
[NonParallelizable, Property("Case", "T-CLU-1")]
public sealed class ClusterTests
{
    private const int Lanes = 4;

    [Test, Category("Cluster"), CancelAfter(3_300_000)]
    public async Task What_was_accepted_survives_the_loss_of_any_broker(CancellationToken cancellationToken)
    {
        var size = ClusterSize.OfEnvironment();
        await using var cluster = await BrokerCluster.StartAsync();
        await using var bench = await FaultBench.StartAsync(PlanFor(cluster), cancellationToken);
        await ExpectReplicasAsync(cluster, bench.Name);
        var faults = new ClusterFaults(cluster, $"{bench.Name}.endpoints.{bench.Name}.effects", FaultBench.Seed);
        var nemesis = FaultBench.NewNemesis().Track(size.Gap, size.Gap, Share(faults.All, size.Rounds));
        var watch = new ConsumerWatch(
            bench.Farm,
            EndpointsOf(bench.Name),
            RabbitMqAddress.Parse(cluster.Servers.RabbitMq)!,
            FaultBench.Log
        );
        using var watching = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        var watched = watch.RunAsync(watching.Token);

        await bench.RunAsync(
            new LoadPlan
            {
                Messages = size.Messages,
                Keys = 200,
                Rate = size.Rate,
                LargestBody = 16 * 1024,
            },
            nemesis,
            cancellationToken
        );
        await cluster.WaitUntilWholeAsync();
        var verdicts = await bench.SettleAsync(cancellationToken);
        await watching.CancelAsync();
        await watched;

        var recovery = Recovery.OfSenders(nemesis.Strikes, bench.Ledger.Messages);
        var lies = bench.Ledger.Messages.Count(message => message.Outcome == SendOutcome.Confirmed && IsWithoutMajority(message, faults));
        bench.Conclude(
            verdicts,
            $"{size.Messages:N0} of 0.2 to 16 KiB, {size.Rate}/s, 2 hosts; {size.Rounds} rounds: {Describe(nemesis.Strikes)}; "
                + $"{size.Gap} s between them",
            $"first confirm after the end of a fault {recovery}; accepted in {faults.WithoutMajority.Count} times without a "
                + $"majority: {lies}; "
                + $"said to run without a consumer for at most {watch.LongestLie.TotalSeconds:0} s in {watch.Samples} looks"
        );
        Assert.Multiple(() =>
        {
            Assert.That(lies, Is.Zero, "accepted while no broker could reach another");
            Assert.That(recovery.Slowest95, Is.LessThan(TimeSpan.FromSeconds(20)), "95 % of the recoveries");
            Assert.That(watch.LongestLie, Is.LessThan(TimeSpan.FromSeconds(30)), "said to run without a consumer");
            Assert.That(watch.Samples, Is.GreaterThan(size.Rounds), "looks at consumers");
        });
    }

    // Of everything but what a host makes anew after a loss: its replies, and what it hears of the others.
    private static async Task ExpectReplicasAsync(BrokerCluster cluster, string prefix)
    {
        var replicas = await cluster.CountReplicasAsync($"{prefix}.");
        var kept = replicas
            .Where(queue =>
                !queue.Key.Contains(".replies.", StringComparison.Ordinal) && !queue.Key.Contains(".farm.", StringComparison.Ordinal)
            )
            .ToList();
        Assert.That(kept, Has.Count.GreaterThan(Lanes));
        Assert.That(kept.Where(queue => queue.Value != BrokerCluster.Nodes.Count), Is.Empty);
    }

    private static BenchPlan PlanFor(BrokerCluster cluster) =>
        new()
        {
            Case = "T-CLU-1",
            Servers = cluster.Servers,
            Sinks = async (database, _) =>
                [
                    await SqlSink.CreateAsync("effects", database, SinkPromises.Once, BenchConfiguration.Parallel()),
                    await SqlSink.CreateAsync("bykey", database, SinkPromises.Once | SinkPromises.Ordered, InLanes()),
                ],
            // the brokers are on this machine, though their addresses are not
            Configure = configuration => configuration["transport"]!["allowInsecure"] = true,
        };

    private static JsonObject InLanes()
    {
        var settings = BenchConfiguration.OrderedByKey();
        settings["lanes"] = Lanes;
        return settings;
    }

    private static List<WatchedEndpoint> EndpointsOf(string name)
    {
        var names = new RabbitMqNames(name, name);
        return
        [
            new WatchedEndpoint("effects", [names.Endpoint("effects")], IsOrdered: false),
            new WatchedEndpoint("bykey", [.. Enumerable.Range(0, Lanes).Select(lane => names.Lane("bykey", lane))], IsOrdered: true),
        ];
    }

    // Each kind as often as the others; the first ones once more where that does not come out even.
    private static (Fault Fault, int Times)[] Share(IReadOnlyList<Fault> faults, int rounds) =>
        [.. faults.Select((fault, index) => (fault, (rounds / faults.Count) + (index < rounds % faults.Count ? 1 : 0)))];

    // Begun and ended within, a second from both ends: what was on its way when the last link was cut does not count.
    private static bool IsWithoutMajority(SentMessage message, ClusterFaults faults) =>
        faults.WithoutMajority.Any(time => message.SentAt > time.From.AddSeconds(1) && message.OutcomeAt < time.To.AddSeconds(-1));

    private static string Describe(IReadOnlyList<Strike> strikes) =>
        string.Join(
            ", ",
            strikes.GroupBy(strike => strike.Name).OrderBy(group => group.Key).Select(group => $"{group.Key} × {group.Count()}")
        );
}
