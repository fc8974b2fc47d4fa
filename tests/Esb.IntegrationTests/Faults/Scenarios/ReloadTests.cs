using System.Globalization;
using System.Text.Json.Nodes;
using Esb.IntegrationTests.EndToEnd;
using Esb.IntegrationTests.EndToEnd.Hosts;
using Esb.IntegrationTests.Faults.Benches;
using Esb.IntegrationTests.Faults.Checking;
using Esb.IntegrationTests.Faults.Ledgers;
using Esb.IntegrationTests.Faults.Load;
using Esb.IntegrationTests.Faults.Nemeses;
using Esb.IntegrationTests.Faults.Sinks;
using Npgsql;

namespace Esb.IntegrationTests.Faults.Scenarios;

/// <summary>Two hosts go on with another configuration again and again, one thing changed at a time, under load.</summary>
/// <remarks>Beside the endpoints that are changed, others are paused, stopped, parked, of a single instance, or get their dead letters
/// again.</remarks>
[NonParallelizable, Property("Case", "T-CFG-1")]
public sealed class ReloadTests
{
    private const int Wrong = 5; // each fifth reload is
    private const int PausedAtMost = 2; // seconds, of an endpoint that is changed
    private const int SlowerAtMost = 50; // milliseconds, of the others

    [Test, Category("Thorough"), Category("Waits"), Category("FaultsSmoke"), CancelAfter(180_000)]
    public async Task Smoke(CancellationToken cancellationToken)
    {
        await using var bench = await FaultBench.StartAsync(
            new BenchPlan
            {
                Case = "T-CFG-1",
                Sinks = (database, _) => ReloadFarm.ChangedAsync(database),
                Configure = ReloadFarm.Configure,
            },
            cancellationToken
        );
        await RunAsync(
            bench,
            new LoadPlan
            {
                Messages = 3_000,
                Keys = 50,
                Rate = 150,
                LargestBody = 1_024,
            },
            reloads: 20,
            Wrong,
            FaultBench.NewNemesis(),
            cancellationToken
        );
        var verdicts = await bench.SettleAsync(cancellationToken);

        bench.Conclude(verdicts, $"{bench.Ledger.Acknowledged:N0}, 20 reloads");
    }

    [Test, Category("Alone"), Category("Faults"), CancelAfter(900_000)]
    public async Task Nothing_else_notices_200_reloads(CancellationToken cancellationToken)
    {
        const int Reloaded = 200;
        await using var bench = await ReloadFarm.StartAsync(cancellationToken);
        var usual = new LoadPlan
        {
            Messages = 6_000,
            Keys = 50,
            Rate = 100,
            LargestBody = 1_024,
        };
        using (var load = bench.Load(usual with { KeyPrefix = "u" }))
            await load.RunAsync(cancellationToken); // warm, and to compare with
        var begun = TimeProvider.System.GetUtcNow();

        var reloads = await RunAsync(bench, usual with { Messages = 10_000 }, Reloaded, Wrong, FaultBench.NewNemesis(), cancellationToken);
        var verdicts = await ReloadFarm.SettleAsync(bench, cancellationToken);

        var single = bench.Sinks.Single(sink => sink.Endpoint == "single");
        var without = await SlownessAsync(bench, single, message => message.Key.StartsWith('u'), cancellationToken);
        var with = await SlownessAsync(bench, single, message => message.SentAt >= begun, cancellationToken);
        var pauses = new List<TimeSpan>();
        foreach (var sink in bench.Sinks.Where(sink => sink.Endpoint is "loose" or "keyed" or "ordered"))
            pauses.Add(await PauseAsync(sink, begun, cancellationToken));
        var counted = await CountAsync(bench, cancellationToken);
        bench.Conclude(
            verdicts,
            $"{bench.Ledger.Acknowledged:N0}, 50 keys, {usual.Rate}/s, 2 hosts, {reloads.Done} reloads and {reloads.Refused} refused",
            string.Create(
                CultureInfo.InvariantCulture,
                $"p99 of an endpoint that stays {without.TotalMilliseconds:0} ms without and {with.TotalMilliseconds:0} ms with "
                    + $"reloads; longest pauses of changed ones {string.Join(", ", pauses.Select(pause => $"{pause.TotalSeconds:0.0}"))} s"
            )
        );
        Assert.Multiple(() =>
        {
            Assert.That(
                (reloads.Done, reloads.Refused, reloads.Elsewhere),
                Is.EqualTo((Reloaded - (Reloaded / Wrong), Reloaded / Wrong, 0))
            );
            Assert.That(counted, Is.EqualTo(bench.Ledger.Acknowledged), "an endpoint that stays goes on counting");
            Assert.That(pauses, Has.All.LessThan(TimeSpan.FromSeconds(PausedAtMost)));
            Assert.That(with - without, Is.LessThan(TimeSpan.FromMilliseconds(SlowerAtMost)));
        });
    }

    [Test, Category("Waits"), Category("Faults"), CancelAfter(900_000)]
    public async Task Nothing_is_lost_while_hosts_die_and_stop(CancellationToken cancellationToken)
    {
        const int Reloaded = 60;
        await using var bench = await ReloadFarm.StartAsync(cancellationToken);
        var nemesis = FaultBench.NewNemesis();
        foreach (var host in bench.Farm.Hosts)
            nemesis = nemesis.Track(2, 10, (HostFaults.Kill(host), 4), (HostFaults.Stop(host), 2));

        var reloads = await RunAsync(
            bench,
            new LoadPlan
            {
                Messages = 10_000,
                Keys = 50,
                Rate = 100,
                LargestBody = 1_024,
            },
            Reloaded,
            wrong: 0,
            nemesis,
            cancellationToken
        );
        var verdicts = await ReloadFarm.SettleAsync(bench, cancellationToken);

        bench.Conclude(
            verdicts,
            $"{bench.Ledger.Acknowledged:N0}, 50 keys, 100/s, 2 hosts, kill -9 host × 8, SIGTERM × 4",
            $"{reloads.Done} reloads made, {reloads.Elsewhere} not possible just then"
        );
        Assert.That(reloads.Done, Is.GreaterThan(Reloaded / 4), "the others met a host that was dead or had just come");
    }

    private static async Task<Reloads> RunAsync(
        FaultBench bench,
        LoadPlan plan,
        int reloads,
        int wrong,
        Nemesis nemesis,
        CancellationToken cancellationToken
    )
    {
        using var reloading = new Reloads(bench, ReloadFarm.Change, wrong);
        using var load = bench.Load(plan);
        await bench.RunAsync(
            faults => load.RunAsync(cancellationToken, until: faults),
            token => Task.WhenAll(nemesis.RunAsync(token), reloading.RunAsync(reloads, token)),
            cancellationToken
        );
        return reloading;
    }

    private static async Task<TimeSpan> SlownessAsync(
        FaultBench bench,
        ISink sink,
        Func<SentMessage, bool> isCounted,
        CancellationToken cancellationToken
    )
    {
        var accepted = bench
            .Ledger.Messages.Where(message => message.OutcomeAt is not null && isCounted(message))
            .ToDictionary(message => message.Id, message => message.OutcomeAt!.Value);
        var waits = (await sink.ReadAsync(cancellationToken))
            .Where(entry => accepted.ContainsKey(entry.Id))
            .Select(entry => entry.At - accepted[entry.Id])
            .Order()
            .ToList();
        return waits[(int)(waits.Count * 0.99)];
    }

    // Messages come all the time.
    private static async Task<TimeSpan> PauseAsync(ISink sink, DateTimeOffset from, CancellationToken cancellationToken)
    {
        var times = (await sink.ReadAsync(cancellationToken)).Select(entry => entry.At).Where(at => at >= from).Order().ToList();
        return times.Zip(times.Skip(1), (one, next) => next - one).Max();
    }

    private static async Task<long> CountAsync(FaultBench bench, CancellationToken cancellationToken)
    {
        var count = 0L;
        foreach (var host in bench.Farm.Hosts)
            count += (await host.Process.AskAsync("/api/endpoints/single", cancellationToken)).GetProperty("messages").GetInt64();
        return count;
    }
}
