using System.Globalization;
using System.Text.Json.Nodes;
using Esb.IntegrationTests.Faults.Benches;
using Esb.IntegrationTests.Faults.Checking;
using Esb.IntegrationTests.Faults.Ledgers;
using Esb.IntegrationTests.Faults.Load;
using Esb.IntegrationTests.Faults.Nemeses;
using Esb.IntegrationTests.Faults.Sinks;

namespace Esb.IntegrationTests.Faults.Scenarios.Stores;

/// <summary>The database of the audit restarts again and again, and ends every session in between: no fact is missing, and callers notice
/// the restarts at most.</summary>
[NonParallelizable, Property("Case", "T-AUD-2")]
public sealed class RestartStormTests
{
    private static readonly TimeSpan Grace = TimeSpan.FromSeconds(3);
    private static readonly TimeSpan PoolPatience = TimeSpan.FromSeconds(30);

    [Test, Category("Faults"), Category("Waits"), CancelAfter(240_000)]
    public Task Storm_smoke(CancellationToken cancellationToken) => RunAsync("strict", restarts: 3, pause: 7, cancellationToken);

    [TestCase("spooled"), TestCase("strict")]
    [Category("Audit"), CancelAfter(1_500_000)]
    public Task Storm_leaves_no_gap(string mode, CancellationToken cancellationToken) =>
        RunAsync(mode, restarts: 30, pause: 20, cancellationToken);

    private static async Task RunAsync(string mode, int restarts, double pause, CancellationToken cancellationToken)
    {
        await using var bench = await FaultBench.StartAsync(
            new BenchPlan
            {
                Case = $"T-AUD-2 ({mode})",
                Hosts = 1,
                Sinks = async (_, folder) => [await HttpSink.StartAsync("web", folder, SinkPromises.None, BenchConfiguration.Parallel())],
                Configure = configuration => configuration["audit"] = new JsonObject { ["mode"] = mode },
            },
            cancellationToken
        );
        var restart = ServerFaults.RestartDatabase(bench.Servers);
        var nemesis = FaultBench
            .NewNemesis()
            .Track(pause, pause, (restart, restarts))
            .Track(5, 5, (ServerFaults.TryEndSessions(bench.Servers.Postgres), (int)(restarts * pause / 5)));
        using var load = bench.Load(
            new LoadPlan
            {
                Messages = 0,
                Rate = 100,
                LargestBody = 2_048,
            }
        );
        var (usual, back) = (0, TimeSpan.Zero);

        await load.RunAsync(cancellationToken, until: StormAsync());
        var verdicts = await bench.SettleAsync(cancellationToken);

        var restarted = nemesis.Strikes.Where(strike => strike.Name == restart.Name).ToList();
        var refused = bench
            .Ledger.Messages.Where(message => message.Outcome != SendOutcome.Confirmed)
            .Select(message => message.OutcomeAt ?? message.SentAt)
            .ToList();
        var late = refused.Where(at => !restarted.Any(strike => at >= strike.StruckAt && at <= strike.HealedAt + Grace)).Order().ToList();
        var tally = await IntakeTally.CountAsync(bench, "intake", cancellationToken);
        bench.Conclude(
            verdicts,
            $"{load.Acknowledged:N0}, 100/s; {restart.Name} × {restarts}, 57P01 to all sessions every 5 s",
            string.Create(
                CultureInfo.InvariantCulture,
                $"{refused.Count} refused, {late.Count} of them later than 3 s after a return; {usual} sessions again after "
                    + $"{back.TotalSeconds:0.0} s; {tally}"
            )
        );
        Assert.Multiple(() =>
        {
            Assert.That(late, Is.Empty, "refused later than 3 s after a return");
            Assert.That(back, Is.LessThan(PoolPatience));
            Assert.That(tally, Is.EqualTo(IntakeTally.Clean));
        });

        async Task StormAsync()
        {
            await Task.Delay(TimeSpan.FromSeconds(5), cancellationToken);
            usual = await CountSessionsAsync(bench, cancellationToken);
            await nemesis.RunAsync(cancellationToken);
            var over = TimeProvider.System.GetTimestamp();
            do
            {
                await Task.Delay(500, cancellationToken);
                back = TimeProvider.System.GetElapsedTime(over);
            } while (
                await CountSessionsAsync(bench, cancellationToken) is var sessions
                && (sessions == 0 || sessions > usual + 2)
                && back < PoolPatience
            );
        }
    }

    // Of the host: without the one that asks.
    private static async Task<int> CountSessionsAsync(FaultBench bench, CancellationToken cancellationToken) =>
        (
            await bench.Database.QueryAsync<int>(
                "select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and "
                    + "backend_type = 'client backend'",
                null,
                cancellationToken
            )
        )[0];
}
