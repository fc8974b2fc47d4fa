using System.Globalization;
using System.Text.Json.Nodes;
using Esb.IntegrationTests.Faults.Benches;
using Esb.IntegrationTests.Faults.Checking;
using Esb.IntegrationTests.Faults.Farm;
using Esb.IntegrationTests.Faults.Ledgers;
using Esb.IntegrationTests.Faults.Load;
using Esb.IntegrationTests.Faults.Sinks;

namespace Esb.IntegrationTests.Faults.Scenarios.Stores;

/// <summary>The database of the audit is away while messages keep coming: spooled, the bus goes on; strict, it waits. Neither loses a
/// fact.</summary>
[NonParallelizable, Property("Case", "T-AUD-1")]
public sealed class StoreOutageTests
{
    private const int Rate = 200;
    private const long MostGrowth = 50 << 20;
    private const long SpoolSize = 512 << 20; // the default

    private static readonly TimeSpan Reaction = TimeSpan.FromSeconds(5);
    private static readonly TimeSpan CatchUp = TimeSpan.FromMinutes(5);
    private static readonly TimeSpan Long = TimeSpan.FromMinutes(10);
    private static readonly TimeSpan Short = TimeSpan.FromSeconds(8);

    [Test, Category("FaultsSmoke"), CancelAfter(240_000)]
    public Task Spooled_smoke(CancellationToken cancellationToken) => RunSpooledAsync(TimeSpan.FromSeconds(4), Short, cancellationToken);

    [Test, Category("Audit"), CancelAfter(1_500_000)]
    public Task Spooled_outage_holds_nothing_up(CancellationToken cancellationToken) =>
        RunSpooledAsync(TimeSpan.FromSeconds(60), Long, cancellationToken);

    [Test, Category("Thorough"), Category("FaultsSmoke"), CancelAfter(240_000)]
    public Task Strict_smoke(CancellationToken cancellationToken) => RunStrictAsync(TimeSpan.FromSeconds(4), Short, cancellationToken);

    [Test, Category("Audit"), CancelAfter(1_500_000)]
    public Task Strict_outage_stops_intake_and_deliveries(CancellationToken cancellationToken) =>
        RunStrictAsync(TimeSpan.FromSeconds(60), Long, cancellationToken);

    private static async Task RunSpooledAsync(TimeSpan before, TimeSpan outage, CancellationToken cancellationToken)
    {
        await using var bench = await StartAsync("spooled", cancellationToken);
        await using var size = new HostSize(bench.Farm.Hosts[0]);
        using var load = bench.Load(Plan);
        var (usual, meanwhile, memory, healedAt) = (0.0, 0.0, 0L, 0L);

        await load.RunAsync(cancellationToken, until: StrikeAsync());
        var verdicts = await CatchUpAsync(bench, cancellationToken);
        var took = TimeProvider.System.GetElapsedTime(healedAt);

        var (growth, tally) = (size.MostMemory - memory, await IntakeTally.CountAsync(bench, "intake", cancellationToken));
        bench.Conclude(
            verdicts,
            $"{load.Acknowledged:N0}, {Rate}/s; database away for {outage.TotalSeconds:0} s",
            string.Create(
                CultureInfo.InvariantCulture,
                $"accepted meanwhile {meanwhile:0}/s of the usual {usual:0}/s; spool at most {size.MostSpooled / 1048576.0:0.0} "
                    + $"MiB; memory grew by {growth / 1048576.0:0.0} MiB; all rows in {took.TotalSeconds:0.0} s after its return; {tally}"
            )
        );
        Assert.Multiple(() =>
        {
            Assert.That(load.Codes.Keys, Has.None.StartsWith("ESB-AUD").And.None.StartsWith("ESB-STORE"), "what was refused");
            // seconds on a busy machine tell no rate
            Assert.That(meanwhile, Is.GreaterThan(outage == Long ? 0.8 * usual : 0), "accepted per second");
            Assert.That(took, Is.LessThan(CatchUp));
            Assert.That(size.MostSpooled, Is.InRange(1L, SpoolSize), "the spool");
            Assert.That(tally, Is.EqualTo(IntakeTally.Clean));
            if (outage == Long)
                Assert.That(growth, Is.LessThan(MostGrowth)); // a host that was just started still grows
        });

        async Task StrikeAsync()
        {
            await Task.Delay(before / 2, cancellationToken); // it is warm then
            usual = await RateAsync(load, before / 2, cancellationToken);
            memory = size.Begin();
            await bench.Servers.KillAsync("postgres");
            try
            {
                meanwhile = await RateAsync(load, outage, cancellationToken);
            }
            finally
            {
                await bench.Servers.StartAsync("postgres"); // others use it, and what a failed run left is read from it
            }

            healedAt = TimeProvider.System.GetTimestamp();
        }
    }

    private static async Task RunStrictAsync(TimeSpan before, TimeSpan outage, CancellationToken cancellationToken)
    {
        await using var bench = await StartAsync("strict", cancellationToken);
        await using var size = new HostSize(bench.Farm.Hosts[0]);
        using var load = bench.Load(Plan);
        var (struck, healed, waiting, memory, healedAt) = (default(DateTimeOffset), default(DateTimeOffset), 0, 0L, 0L);

        var strike = StrikeAsync();
        await Task.WhenAll(
            load.RunAsync(cancellationToken, until: strike),
            new BrokerLoad(bench).RunAsync(rate: 10, strike, cancellationToken)
        );
        var verdicts = await CatchUpAsync(bench, cancellationToken);
        var took = TimeProvider.System.GetElapsedTime(healedAt);

        var accepted = bench
            .Ledger.Messages.Where(message => message is { Outcome: SendOutcome.Confirmed, Key: not "published" })
            .Select(message => message.OutcomeAt!.Value);
        var lateAccepted = accepted.Count(IsLate);
        var lateDelivered = (await bench.Sinks[0].ReadAsync(cancellationToken)).Count(entry => IsLate(entry.At));
        var (growth, tally) = (size.MostMemory - memory, await IntakeTally.CountAsync(bench, "intake", cancellationToken));
        bench.Conclude(
            verdicts,
            $"{load.Acknowledged:N0}, {Rate}/s, and 10/s past the host; database away for {outage.TotalSeconds:0} s",
            string.Create(
                CultureInfo.InvariantCulture,
                $"refused with {string.Join(", ", load.Codes.Select(entry => $"{entry.Key} × {entry.Value}"))}; from 5 s on "
                    + $"accepted {lateAccepted}, delivered {lateDelivered}; {waiting} waited in the broker; memory grew by "
                    + $"{growth / 1048576.0:0.0} MiB; all rows in {took.TotalSeconds:0.0} s after its return; {tally}"
            )
        );
        Assert.Multiple(() =>
        {
            Assert.That((lateAccepted, lateDelivered), Is.EqualTo((0, 0)));
            Assert.That(load.Codes, Contains.Key("ESB-AUD-WRITE"));
            Assert.That(waiting, Is.GreaterThan(outage.TotalSeconds * 5), "the broker keeps what comes");
            Assert.That(took, Is.LessThan(CatchUp));
            Assert.That(tally, Is.EqualTo(IntakeTally.Clean));
            if (outage == Long)
                Assert.That(growth, Is.LessThan(MostGrowth));
        });

        bool IsLate(DateTimeOffset at) => at > struck + Reaction && at < healed;

        async Task StrikeAsync()
        {
            await Task.Delay(before, cancellationToken);
            memory = size.Begin();
            await bench.Servers.KillAsync("postgres");
            struck = TimeProvider.System.GetUtcNow();
            try
            {
                await Task.Delay(outage, cancellationToken);
                waiting = bench.Records.WaitingFor("web", await bench.Records.ReadQueuesAsync());
            }
            finally
            {
                healed = TimeProvider.System.GetUtcNow();
                await bench.Servers.StartAsync("postgres"); // others use it, and what a failed run left is read from it
            }

            healedAt = TimeProvider.System.GetTimestamp();
            var again = load.Acknowledged + Rate;
            while (load.Acknowledged < again && TimeProvider.System.GetElapsedTime(healedAt) < CatchUp)
                await Task.Delay(100, cancellationToken);
        }
    }

    private static LoadPlan Plan =>
        new()
        {
            Messages = 0,
            Rate = Rate,
            LargestBody = 2_048,
        };

    private static Task<FaultBench> StartAsync(string mode, CancellationToken cancellationToken) =>
        FaultBench.StartAsync(
            new BenchPlan
            {
                Case = $"T-AUD-1 ({mode})",
                Hosts = 1,
                Sinks = async (_, folder) => [await HttpSink.StartAsync("web", folder, SinkPromises.None, BenchConfiguration.Parallel())],
                Configure = configuration => configuration["audit"] = new JsonObject { ["mode"] = mode },
            },
            cancellationToken
        );

    private static async Task<double> RateAsync(LoadGenerator load, TimeSpan time, CancellationToken cancellationToken)
    {
        var accepted = load.Acknowledged;
        await Task.Delay(time, cancellationToken);
        return (load.Acknowledged - accepted) / time.TotalSeconds;
    }

    private static async Task<IReadOnlyList<Verdict>> CatchUpAsync(FaultBench bench, CancellationToken cancellationToken)
    {
        var started = TimeProvider.System.GetTimestamp();
        while (true)
        {
            var verdicts = await bench.SettleAsync(cancellationToken);
            if (verdicts.All(verdict => verdict.Broken.Count == 0) || TimeProvider.System.GetElapsedTime(started) > CatchUp)
                return verdicts;
        }
    }
}
