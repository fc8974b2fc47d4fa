using System.Text.Json.Nodes;
using Esb.IntegrationTests.Faults.Benches;
using Esb.IntegrationTests.Faults.Checking;
using Esb.IntegrationTests.Faults.Farm;
using Esb.IntegrationTests.Faults.Load;
using Esb.IntegrationTests.Faults.Nemeses;
using Esb.IntegrationTests.Faults.Network;
using Esb.IntegrationTests.Faults.Results;
using Esb.IntegrationTests.Faults.Sinks;
using Npgsql;

namespace Esb.IntegrationTests.Faults.Scenarios;

/// <summary>One of three hosts reads a drop box. Whatever befalls it, no two read at once, and another takes over soon.</summary>
[NonParallelizable]
public sealed class LeaseTests
{
    private const string Endpoint = "drop";

    private static readonly TimeSpan TakeOver = TimeSpan.FromSeconds(15);

    [Test, Category("Faults"), CancelAfter(600_000), Property("Case", "T-LEA-1")]
    public Task Owner_that_dies_freezes_or_loses_its_database_is_replaced(CancellationToken cancellationToken) =>
        RunAsync("T-LEA-1", rounds: 6, (host, proxy, round) => (round % 3) switch
        {
            0 => HostFaults.Kill(host).Lasting(0.5, 5),
            1 => HostFaults.Pause(host).Lasting(15, 30),
            _ => NetworkFaults.Stall(proxy, "database").Lasting(15, 30),
        }, cancellationToken);

    [Test, Category("Faults"), CancelAfter(600_000), Property("Case", "T-LEA-3")]
    public Task Database_that_restarts_makes_no_second_owner(CancellationToken cancellationToken) =>
        RunAsync("T-LEA-3", rounds: 6, (_, _, _) => null, cancellationToken);

    // A null fault is a restart of the database under all of them.
    private static async Task RunAsync(string name, int rounds, Func<FarmHost, INetworkProxy, int, Fault?> faultOf, CancellationToken cancellationToken)
    {
        var incoming = "";
        await using var bench = await FaultBench.CreateAsync(new BenchPlan
        {
            Case = name,
            Hosts = 3,
            Sinks = async (database, folder) =>
            {
                incoming = Path.Combine(folder, "incoming");
                return [await SqlSink.CreateAsync("effects", database, SinkPromises.Once, BenchConfiguration.Parallel(), idHeader: "x-file-name")];
            },
            Configure = configuration => configuration["endpoints"]!["intake"] = new JsonObject
            {
                ["type"] = "http-inbound", ["path"] = "/work", ["publish"] = "work.other",
            },
        });
        Directory.CreateDirectory(incoming);
        await AddDropAsync(bench, incoming);
        await using var proxies = new ProxyForEach(bench);
        await proxies.StartAsync();
        await bench.Farm.StartAsync(cancellationToken);
        using var watching = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        var watch = new OwnerWatch(bench.Farm, Endpoint);
        var watched = watch.RunAsync(watching.Token);
        var strikes = new List<Strike>();

        await new FileLoad(incoming, bench.Ledger, FaultBench.Seed).RunAsync(files: 500, rate: 20, until: StrikeAsync(), cancellationToken);
        await bench.Farm.WaitForReadyAsync(cancellationToken);
        var verdicts = await bench.SettleAsync(cancellationToken, evidence => evidence with { TerminalStates = null });
        await watching.CancelAsync();
        await watched;

        var gaps = await Recovery.MeasureAsync(strikes, bench.Sinks, cancellationToken, strike => strike.StruckAt + TimeSpan.FromMilliseconds(200));
        var overlaps = watch.CountOverlaps();
        bench.Conclude(verdicts, $"{bench.Ledger.Acknowledged:N0} files, 3 hosts; {string.Join(", ", strikes.GroupBy(strike => strike.Name.Split(" host")[0]).Select(group => $"{group.Key} × {group.Count()}"))}", $"two owners at {overlaps} of {watch.Samples:N0} looks; gap {gaps}");
        Assert.That(overlaps, Is.Zero, "two owners at once");
        Assert.That(gaps.Slowest95, Is.LessThan(TakeOver));

        async Task StrikeAsync()
        {
            var random = new Random(FaultBench.Seed);
            for (var round = 0; round < rounds; round++)
            {
                await Task.Delay(TimeSpan.FromSeconds(3 + (3 * random.NextDouble())), cancellationToken);
                FarmHost? owner;
                while ((owner = watch.Current()) is null) await Task.Delay(100, cancellationToken);
                var fault = faultOf(owner, proxies.Of(owner), round) ?? ServerFaults.KillDatabase(bench.Servers).Lasting(0, 3);
                var nemesis = new Nemesis(FaultBench.Seed + round, FaultBench.Log).Track(0, 0, (fault with { Name = $"{fault.Name} of {owner.Name}" }, 1));
                await nemesis.RunAsync(cancellationToken);
                strikes.AddRange(nemesis.Strikes);
            }
        }
    }

    private static async Task AddDropAsync(FaultBench bench, string incoming)
    {
        var configuration = JsonNode.Parse(await File.ReadAllTextAsync(bench.Configuration))!.AsObject();
        configuration["endpoints"]![Endpoint] = new JsonObject
        {
            ["type"] = "file-inbound", ["folder"] = incoming, ["publish"] = "work.item", ["interval"] = "200ms", ["singleInstance"] = true,
        };
        await bench.ConfigureAsync(configuration);
    }

    /// <summary>A way to the database for each host, so that one alone can lose it.</summary>
    private sealed class ProxyForEach(FaultBench bench) : IAsyncDisposable
    {
        private readonly Dictionary<FarmHost, INetworkProxy> _proxies = [];

        public INetworkProxy Of(FarmHost host) => _proxies[host];

        public async Task StartAsync()
        {
            var store = new NpgsqlConnectionStringBuilder(bench.Servers.Postgres) { Database = bench.Name };
            var port = store.Port;
            foreach (var host in bench.Farm.Hosts)
            {
                store.Port = (_proxies[host] = await NetworkProxies.StartAsync(port, FaultBench.Log)).Port;
                host.Set(BenchConfiguration.StoreVariable, store.ConnectionString);
            }
        }

        public async ValueTask DisposeAsync()
        {
            foreach (var proxy in _proxies.Values) await proxy.DisposeAsync();
        }
    }
}
