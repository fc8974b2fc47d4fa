using System.Globalization;
using Esb.IntegrationTests.Faults.Benches;
using Esb.IntegrationTests.Faults.Checking;
using Esb.IntegrationTests.Faults.Farm;
using Esb.IntegrationTests.Faults.Load;
using Esb.IntegrationTests.Faults.Sinks;
using Esb.Topics.RabbitMq.Topology;

namespace Esb.IntegrationTests.Faults.Scenarios.Ordering;

/// <summary>Hosts are added to a farm of one until there are eight, and stopped again one after the other, under a steady load: they share
/// the lanes of an endpoint that keeps the order of keys.</summary>
[NonParallelizable, Category("Waits"), Property("Case", "T-ORD-4")]
public sealed class LaneSharingTests
{
    private const string Keyed = "keyed";
    private const int Lanes = 8;
    private const int Rate = 50;

    private static readonly TimeSpan Hanging = TimeSpan.FromMinutes(3);
    private static readonly TimeSpan Before = TimeSpan.FromSeconds(30); // in which each lane has had a message
    private static readonly TimeSpan Step = TimeSpan.FromSeconds(5); // with shares that stay as they are

    [Test, Category("Thorough"), Category("FaultsSmoke"), CancelAfter(300_000)]
    public Task Smoke(CancellationToken cancellationToken) => RunAsync(hosts: 2, cancellationToken);

    [Test, Category("Faults"), CancelAfter(3_600_000)]
    public Task Hosts_that_come_and_go_share_the_lanes_evenly(CancellationToken cancellationToken) => RunAsync(hosts: 8, cancellationToken);

    private static async Task RunAsync(int hosts, CancellationToken cancellationToken)
    {
        await using var bench = await FaultBench.CreateAsync(
            new BenchPlan
            {
                Case = "T-ORD-4",
                Hosts = hosts,
                Sinks = async (database, _) =>
                    [
                        await SqlSink.CreateAsync(
                            Keyed,
                            database,
                            SinkPromises.Ordered | SinkPromises.Once,
                            BenchConfiguration.OrderedByKey()
                        ),
                    ],
            }
        );
        var all = bench.Farm.Hosts;
        List<FarmHost> running = [all[0]];
        await StartAsync(all[0], cancellationToken);
        var (joins, leaves) = (new List<TimeSpan>(), new List<TimeSpan>());
        using (
            var load = new LoadGenerator(
                new LoadPlan
                {
                    Messages = 1,
                    Keys = 100,
                    Rate = Rate,
                    LargestBody = 1_024,
                },
                bench.Ledger,
                random => running[random.Next(running.Count)].Public,
                FaultBench.Seed
            )
        )
        {
            var changes = ChangeAsync(cancellationToken);
            await load.RunAsync(cancellationToken, until: changes);
            await changes;
        }

        var verdicts = await bench.SettleAsync(cancellationToken);

        bench.Conclude(
            verdicts,
            $"{bench.Ledger.Acknowledged:N0}, 100 keys, {Rate}/s, 1 → {hosts} → 1 hosts",
            $"{Lanes} lanes shared evenly after a host was ready: {Described(joins)}; after a host was told to stop: {Described(leaves)}"
        );

        async Task ChangeAsync(CancellationToken token)
        {
            await AwaitEvenAsync(bench, running, TimeProvider.System.GetUtcNow(), token);
            foreach (var host in all.Skip(1))
            {
                await StartAsync(host, token);
                var ready = TimeProvider.System.GetUtcNow();
                running = [.. running, host];
                joins.Add(await AwaitEvenAsync(bench, running, ready, token));
            }

            foreach (var host in all.Skip(1).Reverse())
            {
                running = [.. running.Where(one => one != host)];
                var told = TimeProvider.System.GetUtcNow();
                await host.StopAsync(token);
                leaves.Add(await AwaitEvenAsync(bench, running, told, token));
            }
        }
    }

    private static async Task StartAsync(FarmHost host, CancellationToken cancellationToken)
    {
        host.Start();
        await host.WaitForReadyAsync(cancellationToken);
    }

    private static async Task<TimeSpan> AwaitEvenAsync(
        FaultBench bench,
        IReadOnlyCollection<FarmHost> hosts,
        DateTimeOffset from,
        CancellationToken cancellationToken
    )
    {
        var names = hosts.Select(host => $"/{host.Process.Id.ToString(CultureInfo.InvariantCulture)}").ToList();
        while (true)
        {
            var now = TimeProvider.System.GetUtcNow();
            var deliveries = await ReadAsync(bench, names, from - Before, cancellationToken);
            if (LaneShares.EvenFrom(deliveries, Lanes, names, from) is { } even && now - even >= Step)
            {
                FaultBench.Log($"{hosts.Count} hosts share the lanes after {(even - from).TotalSeconds:0.0} s");
                return even - from;
            }

            if (now - from > Hanging)
            {
                var last = deliveries.Where(delivery => now - delivery.At < TimeSpan.FromSeconds(30)).ToLookup(delivery => delivery.Host);
                var shares = last.Select(host => $"{host.Key}: {string.Join(' ', host.Select(one => one.Lane).Distinct().Order())}");
                Assert.Fail($"{hosts.Count} hosts do not share the lanes after {Hanging.TotalSeconds:0} s: {string.Join("; ", shares)}");
            }

            await Task.Delay(TimeSpan.FromSeconds(1), cancellationToken);
        }
    }

    // Facts name hosts by machine and process.
    private static async Task<List<LaneDelivery>> ReadAsync(
        FaultBench bench,
        IReadOnlyList<string> hosts,
        DateTimeOffset from,
        CancellationToken cancellationToken
    )
    {
        var keys = bench.Ledger.Messages.Where(message => message.MessageId is not null).ToDictionary(message => message.MessageId!.Value);
        var rows = await bench.Database.QueryAsync<(Guid Message, string Host, DateTime At)>(
            "select message_id, host, occurred_at from esb.audit_event where endpoint = @endpoint and (kind = 'Delivered' or "
                + "part_kinds & 16 <> 0) and occurred_at > @from order by occurred_at",
            new { endpoint = Keyed, from = from.UtcDateTime },
            cancellationToken
        );
        return
        [
            .. rows.Where(row => keys.ContainsKey(row.Message))
                .Select(row => new LaneDelivery(LaneOf(keys[row.Message].Key), NameOf(row.Host), row.At)),
        ];

        string NameOf(string host) => hosts.FirstOrDefault(name => host.EndsWith(name, StringComparison.Ordinal)) ?? host;
    }

    private static int LaneOf(string key) =>
        Enumerable.Range(0, Lanes).Single(lane => LaneSlots.OfLane(lane, Lanes).Contains((string)LaneSlots.Of(key)[0]));

    private static string Described(IReadOnlyCollection<TimeSpan> times) =>
        string.Create(
            CultureInfo.InvariantCulture,
            $"{string.Join(", ", times.Select(time => time.TotalSeconds.ToString("0.0", CultureInfo.InvariantCulture)))} s"
        );
}
