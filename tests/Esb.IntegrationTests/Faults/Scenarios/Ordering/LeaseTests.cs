using System.Text.Json.Nodes;
using Esb.IntegrationTests.Faults.Benches;
using Esb.IntegrationTests.Faults.Checking;
using Esb.IntegrationTests.Faults.Farm;
using Esb.IntegrationTests.Faults.Load;
using Esb.IntegrationTests.Faults.Nemeses;
using Esb.IntegrationTests.Faults.Results;
using Esb.IntegrationTests.Faults.Sinks;

namespace Esb.IntegrationTests.Faults.Scenarios.Ordering;

/// <summary>One of three hosts runs an endpoint. Whatever befalls it, no two run it at once, another takes over soon, and what comes late
/// has no effect.</summary>
[NonParallelizable, Category("WaitsLong")]
public sealed class LeaseTests
{
    private const string Effects = "effects";
    private const string Drop = "drop";

    private static readonly TimeSpan TakeOver = TimeSpan.FromSeconds(15); // the lease of 10 s, and 5 s

    // 100 as specified take about half an hour; ESB_FAULTS_LEASE_ROUNDS=100 runs them.
    private static readonly int Rounds = int.TryParse(Environment.GetEnvironmentVariable("ESB_FAULTS_LEASE_ROUNDS"), out var rounds)
        ? rounds
        : 12;

    [Test, Category("Faults"), CancelAfter(3_600_000), Property("Case", "T-LEA-1")]
    public Task Writer_that_dies_freezes_or_loses_its_database_is_replaced(CancellationToken cancellationToken) =>
        WriteAsync("T-LEA-1", Rounds, Repository.Host, (_, _) => { }, AnyOf, cancellationToken);

    [TestCase("01:00:00"), TestCase("-01:00:00")]
    [Category("Faults"), CancelAfter(900_000), Property("Case", "T-LEA-2")]
    public Task Clock_of_a_host_that_is_an_hour_wrong_changes_nothing(string ahead, CancellationToken cancellationToken) =>
        WriteAsync(
            $"T-LEA-2 ({ahead})",
            6,
            Repository.KnownBadHost,
            (host, number) => host.Set("ESB_KNOWNBAD_CLOCK", number == 0 ? ahead : "00:00:00"),
            AnyOf,
            cancellationToken
        );

    [Test, Category("Faults"), CancelAfter(900_000), Property("Case", "T-LEA-3")]
    public async Task Database_that_restarts_makes_no_second_writer(CancellationToken cancellationToken)
    {
        var gaps = await WriteAsync(
            "T-LEA-3",
            20,
            Repository.Host,
            (_, _) => { },
            (bench, _, _, _) => ServerFaults.KillDatabase(bench.Servers).Lasting(0, 3),
            cancellationToken
        );

        Assert.That(gaps.Slowest, Is.LessThanOrEqualTo(TakeOver), "each restart costs one lease at most");
    }

    [Test, Category("Faults"), CancelAfter(600_000), Property("Case", "T-LEA-1")]
    public async Task Reader_that_dies_freezes_or_loses_its_database_is_replaced(CancellationToken cancellationToken)
    {
        var incoming = "";
        await using var bench = await FaultBench.CreateAsync(
            new BenchPlan
            {
                Case = "T-LEA-1 (inbound)",
                Hosts = 3,
                Sinks = async (database, folder) =>
                {
                    incoming = Directory.CreateDirectory(Path.Combine(folder, "incoming")).FullName;
                    return
                    [
                        await SqlSink.CreateAsync(
                            Effects,
                            database,
                            SinkPromises.Once,
                            BenchConfiguration.Parallel(),
                            idHeader: "x-file-name"
                        ),
                    ];
                },
                Configure = configuration =>
                {
                    configuration["endpoints"]!["intake"]!["publish"] = "work.other";
                    configuration["endpoints"]![Drop] = new JsonObject
                    {
                        ["type"] = "file-inbound",
                        ["folder"] = incoming,
                        ["publish"] = "work.item",
                        ["interval"] = "200ms",
                        ["singleInstance"] = true,
                    };
                },
            }
        );
        await using var proxies = await HostProxies.StartAsync(bench);
        await bench.Farm.StartAsync(cancellationToken);

        await StrikeAsync(
            bench,
            proxies,
            Drop,
            6,
            AnyOf,
            until => new FileLoad(incoming, bench.Ledger, FaultBench.Seed).RunAsync(files: 500, rate: 20, until, cancellationToken),
            writers: null,
            cancellationToken
        );
    }

    // Hosts that freeze and thaw in the middle of a write are what the fence is for.
    private static async Task<Recovery> WriteAsync(
        string name,
        int rounds,
        string program,
        Action<FarmHost, int> prepare,
        Func<FaultBench, HostProxies, FarmHost, int, Fault> faultOf,
        CancellationToken cancellationToken
    )
    {
        var settings = BenchConfiguration.Parallel();
        settings["singleInstance"] = true;
        await using var bench = await FaultBench.CreateAsync(
            new BenchPlan
            {
                Case = name,
                Hosts = 3,
                Program = program,
                Sinks = async (database, _) => [await SqlSink.CreateAsync(Effects, database, SinkPromises.Once, settings)],
            }
        );
        for (var number = 0; number < bench.Farm.Hosts.Count; number++)
            prepare(bench.Farm.Hosts[number], number);
        await using var proxies = await HostProxies.StartAsync(bench);
        await bench.Farm.StartAsync(cancellationToken);
        var writers = new WriterLog(bench.Database, Effects);
        await writers.StartAsync();

        return await StrikeAsync(
            bench,
            proxies,
            Effects,
            rounds,
            faultOf,
            until => new BrokerLoad(bench).RunAsync(rate: 40, until, cancellationToken),
            writers,
            cancellationToken
        );
    }

    private static Fault AnyOf(FaultBench bench, HostProxies proxies, FarmHost owner, int round) =>
        (round % 3) switch
        {
            0 => HostFaults.Kill(owner).Lasting(0.5, 5),
            1 => HostFaults.Pause(owner).Lasting(5, 60),
            _ => NetworkFaults.Stall(proxies.Of(owner), "database").Lasting(12, 30),
        };

    /// <returns>The longest time without an owner in each round.</returns>
    private static async Task<Recovery> StrikeAsync(
        FaultBench bench,
        HostProxies proxies,
        string endpoint,
        int rounds,
        Func<FaultBench, HostProxies, FarmHost, int, Fault> faultOf,
        Func<Task, Task> load,
        WriterLog? writers,
        CancellationToken cancellationToken
    )
    {
        using var watching = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        var watch = new OwnerWatch(bench.Farm, endpoint);
        var watched = watch.RunAsync(watching.Token);
        var strikes = new OwnerStrikes(watch, bench.Farm);

        await load(strikes.RunAsync(rounds, (owner, round) => faultOf(bench, proxies, owner, round), cancellationToken));
        await bench.Farm.WaitForReadyAsync(cancellationToken);
        var verdicts = await bench.SettleAsync(cancellationToken, evidence => evidence with { TerminalStates = null });
        await watching.CancelAsync();
        await watched;

        var gaps = new Recovery(strikes.Gaps);
        var overlaps = watch.CountOverlaps();
        var stale = writers is null ? 0 : await writers.CountStaleAsync();
        var tokens = writers is null ? "" : $"; {stale} effects with a stale token of {await writers.CountOwnersAsync()}";
        bench.Conclude(
            verdicts,
            $"{bench.Ledger.Acknowledged:N0}, 3 hosts, {rounds} rounds: {strikes.Summary}",
            $"two owners at {overlaps} of {watch.Samples:N0} looks{tokens}; without an owner {gaps}"
        );
        Assert.Multiple(() =>
        {
            Assert.That(overlaps, Is.Zero, "two owners at once");
            Assert.That(stale, Is.Zero, "effects with a stale token");
            Assert.That(gaps.Slowest95, Is.LessThan(TakeOver));
        });
        return gaps;
    }
}
