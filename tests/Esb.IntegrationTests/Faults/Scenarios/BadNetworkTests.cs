using Esb.IntegrationTests.Faults.Benches;
using Esb.IntegrationTests.Faults.Checking;
using Esb.IntegrationTests.Faults.Load;
using Esb.IntegrationTests.Faults.Nemeses;
using Esb.IntegrationTests.Faults.Sinks;

namespace Esb.IntegrationTests.Faults.Scenarios;

/// <summary>Nothing dies, but the network between hosts and servers is bad in every way that it can be.</summary>
[NonParallelizable, Property("Case", "T-DEL-1")]
public sealed class BadNetworkTests
{
    [Test, Category("Faults"), CancelAfter(600_000)]
    public async Task What_was_accepted_over_a_bad_network_arrives(CancellationToken cancellationToken)
    {
        await using var bench = await FaultBench.StartAsync(
            new BenchPlan
            {
                Case = "T-DEL-1 (network)",
                IsProxied = true,
                Sinks = async (database, folder) =>
                    [
                        await SqlSink.CreateAsync("effects", database, SinkPromises.Once, BenchConfiguration.Parallel()),
                        await HttpSink.StartAsync("web", folder, SinkPromises.None, BenchConfiguration.Parallel()),
                        await SqlSink.CreateAsync("batches", database, SinkPromises.Once, BenchConfiguration.Batched()),
                    ],
            },
            cancellationToken
        );
        var (broker, database) = (bench.Network.Broker, bench.Network.Database);
        var nemesis = FaultBench
            .NewNemesis()
            .Track(
                3,
                8,
                (NetworkFaults.Latency(broker, "broker"), 1),
                (NetworkFaults.Stall(broker, "broker"), 2),
                (NetworkFaults.HalfOpen(broker, "broker"), 2),
                (NetworkFaults.Reset(broker, "broker"), 2),
                (NetworkFaults.Cut(broker, "broker"), 2)
            )
            .Track(
                3,
                8,
                (NetworkFaults.Latency(database, "database"), 1),
                (NetworkFaults.Stall(database, "database"), 1),
                (NetworkFaults.HalfOpen(database, "database"), 1),
                (NetworkFaults.Reset(database, "database"), 2),
                (NetworkFaults.Cut(database, "database"), 2)
            )
            .Track(2, 10, (ServerFaults.EndSessions(bench.Servers.Postgres), 4));

        var accepted = await bench.RunAsync(
            new LoadPlan
            {
                Messages = 10_000,
                Keys = 200,
                Rate = 200,
            },
            nemesis,
            cancellationToken
        );
        var verdicts = await bench.SettleAsync(cancellationToken);

        bench.Conclude(
            verdicts,
            $"{accepted:N0}, 200/s; latency, stall, half open, reset and cut to broker × 9, to database × 7, pg_terminate_backend × 4"
        );
    }
}
