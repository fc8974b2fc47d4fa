using System.Globalization;
using System.Text.Json.Nodes;
using Esb.IntegrationTests.Faults.Benches;
using Esb.IntegrationTests.Faults.Checking;
using Esb.IntegrationTests.Faults.Farm;
using Esb.IntegrationTests.Faults.Ledgers;
using Esb.IntegrationTests.Faults.Load;
using Esb.IntegrationTests.Faults.Results;
using Esb.IntegrationTests.Faults.Sinks;

namespace Esb.IntegrationTests.Faults.Scenarios.Stores;

/// <summary>The database of the audit stays away until the spool is full: callers are slowed down, then turned away, queues wait in the
/// broker, and nothing is lost.</summary>
[NonParallelizable, Property("Case", "T-AUD-1")]
public sealed class SpoolPressureTests
{
    private const int Rate = 30;
    private const int BrokerRate = 20;
    private const int LeastWaiting = 3 * BrokerRate; // so that it is full for three seconds at least
    private const long SpoolSize = 8 << 20;
    private const double Free = 0.70;

    // What was let in a moment before has waited for up to a second, and is worked on then.
    private static readonly TimeSpan UnderWay = TimeSpan.FromSeconds(2);
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    [Test, Category("Audit"), CancelAfter(240_000)]
    public async Task Spool_that_fills_slows_callers_down_then_closes_the_intake_until_there_is_room(CancellationToken cancellationToken)
    {
        await using var bench = await StartAsync(cancellationToken);
        var host = bench.Farm.Hosts[0];
        await using var size = new HostSize(host);
        using var load = bench.Load(
            new LoadPlan
            {
                Messages = 0,
                Rate = Rate,
                Senders = 8,
                SmallestBody = 12 << 10,
                LargestBody = 12 << 10,
            }
        );
        var (struck, stopped, healed) = (default(DateTimeOffset), default(DateTimeOffset), default(DateTimeOffset));
        var (waiting, isReady, state, reason, spooled) = (0, true, "", "", long.MaxValue);

        var strike = StrikeAsync();
        await Task.WhenAll(
            load.RunAsync(cancellationToken, until: strike),
            new BrokerLoad(bench).RunAsync(BrokerRate, strike, cancellationToken)
        );
        var verdicts = await bench.SettleAsync(cancellationToken);

        var accepted = bench
            .Ledger.Messages.Where(message => message is { Outcome: SendOutcome.Confirmed, Key: not "published" })
            .OrderBy(message => message.OutcomeAt)
            .ToList();
        var usual = Medians.Of(accepted.Where(message => message.OutcomeAt < struck).Select(message => message.Took));
        var slowed = Medians.Of(
            accepted
                .Where(message => message.OutcomeAt > struck && message.OutcomeAt < stopped)
                .TakeLast(10)
                .Select(message => message.Took)
        );
        var lateAccepted = accepted.Count(message => IsLate(message.OutcomeAt!.Value));
        var lateDelivered = (await bench.Sinks[0].ReadAsync(cancellationToken)).Count(entry => IsLate(entry.At));
        var tally = await IntakeTally.CountAsync(bench, "intake", cancellationToken);
        bench.Conclude(
            verdicts,
            $"{load.Acknowledged:N0}, up to {Rate}/s, and {BrokerRate}/s past the host; bodies whole; database away until a spool "
                + $"of 8 MiB was full",
            string.Create(
                CultureInfo.InvariantCulture,
                $"accepted in {usual.TotalMilliseconds:0} ms, in {slowed.TotalMilliseconds:0} ms right before the stop "
                    + $"{(stopped - struck).TotalSeconds:0.0} s after the database went; refused with "
                    + $"{string.Join(", ", load.Codes.Select(entry => $"{entry.Key} × {entry.Value}"))}; while it was full "
                    + $"accepted {lateAccepted}, delivered {lateDelivered}, {waiting} waited in the broker; spool at most "
                    + $"{size.MostSpooled / 1048576.0:0.0} MiB, {spooled / 1048576.0:0.0} when messages were accepted "
                    + $"again; {tally}"
            )
        );
        Assert.Multiple(() =>
        {
            Assert.That(slowed, Is.GreaterThan(usual + TimeSpan.FromMilliseconds(100)), "above 80 % callers wait");
            Assert.That(load.Codes, Contains.Key("ESB-AUD-FULL"));
            Assert.That((isReady, state), Is.EqualTo((false, "paused")));
            Assert.That(reason, Does.StartWith("the spool is full to"));
            Assert.That((lateAccepted, lateDelivered), Is.EqualTo((0, 0)));
            Assert.That(waiting, Is.GreaterThanOrEqualTo(LeastWaiting), "the broker keeps what comes");
            Assert.That(size.MostSpooled, Is.InRange(SpoolSize * 95 / 100, SpoolSize));
            Assert.That(spooled, Is.LessThan(Free * SpoolSize), "and only then it goes on");
            Assert.That(tally, Is.EqualTo(IntakeTally.Clean));
        });

        bool IsLate(DateTimeOffset at) => at > stopped + UnderWay && at < healed;

        async Task StrikeAsync()
        {
            await UntilAsync(() => Task.FromResult(load.Acknowledged >= 2 * Rate), "it is warm", cancellationToken);
            await bench.Servers.KillAsync("postgres");
            struck = TimeProvider.System.GetUtcNow();
            try
            {
                await UntilAsync(() => Task.FromResult(load.Codes.ContainsKey("ESB-AUD-FULL")), "the intake stops", cancellationToken);
                stopped = TimeProvider.System.GetUtcNow();
                await UntilAsync(
                    async () => (waiting = bench.Records.WaitingFor("web", await bench.Records.ReadQueuesAsync())) >= LeastWaiting,
                    "messages wait in the broker",
                    cancellationToken
                );
                isReady = await host.IsReadyAsync(cancellationToken);
                (state, reason) = await ReadStateAsync(host, cancellationToken);
            }
            finally
            {
                healed = TimeProvider.System.GetUtcNow();
                await bench.Servers.StartAsync("postgres"); // others use it, and what a failed run left is read from it
            }

            var before = load.Acknowledged;
            await UntilAsync(
                () =>
                {
                    var isClosed = load.Acknowledged == before;
                    if (isClosed)
                        spooled = size.Spooled;
                    return Task.FromResult(!isClosed);
                },
                "messages are accepted again",
                cancellationToken
            );
        }
    }

    private static Task<FaultBench> StartAsync(CancellationToken cancellationToken) =>
        FaultBench.StartAsync(
            new BenchPlan
            {
                Case = "T-AUD-1 (spool full)",
                Hosts = 1,
                Sinks = async (_, folder) => [await HttpSink.StartAsync("web", folder, SinkPromises.None, BenchConfiguration.Parallel())],
                Configure = configuration =>
                {
                    configuration["audit"] = new JsonObject { ["bodies"] = "whole" };
                    configuration["store"]!["spoolSize"] = "8MiB";
                },
            },
            cancellationToken
        );

    private static async Task<(string State, string Reason)> ReadStateAsync(FarmHost host, CancellationToken cancellationToken)
    {
        var endpoints = await host.Process.AskAsync("/api/endpoints", cancellationToken);
        var web = endpoints.GetProperty("items").EnumerateArray().Single(endpoint => endpoint.GetProperty("name").GetString() == "web");
        return (web.GetProperty("state").GetString()!, web.GetProperty("reason").GetString()!);
    }

    private static async Task UntilAsync(Func<Task<bool>> condition, string what, CancellationToken cancellationToken)
    {
        for (var started = TimeProvider.System.GetTimestamp(); !await condition(); await Task.Delay(10, cancellationToken))
            Assert.That(TimeProvider.System.GetElapsedTime(started), Is.LessThan(Patience), $"Waited in vain until {what}.");
    }
}
