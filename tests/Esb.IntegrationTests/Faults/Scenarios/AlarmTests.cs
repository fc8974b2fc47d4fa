using Esb.IntegrationTests.Faults.Benches;
using Esb.IntegrationTests.Faults.Checking;
using Esb.IntegrationTests.Faults.Load;
using Esb.IntegrationTests.Faults.Nemeses;
using Esb.IntegrationTests.Faults.Sinks;

namespace Esb.IntegrationTests.Faults.Scenarios;

/// <summary>The broker is short of memory or disk: it takes no message for a while.</summary>
[NonParallelizable, Category("Idle")]
public sealed class AlarmTests
{
    private const int Rounds = 3;

    [TestCase("memory"), TestCase("disk")]
    [Category("Faults"), CancelAfter(300_000), Property("Case", "T-OVL-3")]
    public async Task Alarm_of_the_broker_stops_intake_and_nothing_else(string alarm, CancellationToken cancellationToken)
    {
        await using var bench = await FaultBench.StartAsync(
            new BenchPlan
            {
                Case = $"T-OVL-3 ({alarm})",
                Hosts = 1,
                Sinks = async (_, folder) =>
                    [
                        await HttpSink.StartAsync(
                            "web",
                            folder,
                            SinkPromises.None,
                            BenchConfiguration.Parallel(poolSize: 4, processingThreads: 4)
                        ),
                    ],
            },
            cancellationToken
        );
        var sink = (HttpSink)bench.Sinks[0];
        sink.LatencyOf = () => TimeSpan.FromMilliseconds(200); // so that there is something left to consume
        var fault = alarm == "memory" ? ServerFaults.MemoryAlarm(bench.Servers) : ServerFaults.DiskAlarm(bench.Servers);
        var host = bench.Farm.Hosts[0];
        var unready = new List<TimeSpan>();
        var consumed = new List<int>();
        using var load = bench.Load(
            new LoadPlan
            {
                Messages = 2_000,
                Rate = 200,
                LargestBody = 2_048,
            }
        );

        var sending = load.RunAsync(cancellationToken, until: AlarmAsync());
        await sending;
        sink.LatencyOf = () => TimeSpan.Zero;
        var verdicts = await bench.SettleAsync(cancellationToken);

        var slowest = bench.Ledger.Messages.Max(message => message.Took);
        bench.Conclude(
            verdicts,
            $"{load.Acknowledged:N0}, 200/s; {alarm} alarm of 20 s × {Rounds}",
            $"unready after {string.Join(", ", unready.Select(time => $"{time.TotalSeconds:0.0} s"))}; consumed meanwhile "
                + $"{string.Join(", ", consumed)}; longest wait for an outcome {slowest.TotalSeconds:0.0} s"
        );
        Assert.Multiple(() =>
        {
            Assert.That(unready, Has.All.LessThan(TimeSpan.FromSeconds(5)));
            Assert.That(consumed, Has.All.GreaterThan(20), "deliveries go on");
            Assert.That(slowest, Is.LessThan(TimeSpan.FromSeconds(25)), "nobody hangs");
        });

        async Task AlarmAsync()
        {
            for (var round = 0; round < Rounds; round++)
            {
                await Task.Delay(TimeSpan.FromSeconds(10), cancellationToken);
                await fault.StrikeAsync();
                var struck = TimeProvider.System.GetTimestamp();
                var before = (await sink.ReadAsync(cancellationToken)).Count;
                while (await host.IsReadyAsync(cancellationToken) && TimeProvider.System.GetElapsedTime(struck) < TimeSpan.FromSeconds(20))
                    await Task.Delay(50, cancellationToken);
                unready.Add(TimeProvider.System.GetElapsedTime(struck));
                await Task.Delay(
                    TimeSpan.FromSeconds(20) - TimeProvider.System.GetElapsedTime(struck) + TimeSpan.FromMilliseconds(1),
                    cancellationToken
                );
                consumed.Add((await sink.ReadAsync(cancellationToken)).Count - before);
                await fault.HealAsync();
                await host.WaitForReadyAsync(cancellationToken);
            }
        }
    }
}
