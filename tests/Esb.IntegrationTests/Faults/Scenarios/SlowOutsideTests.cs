using System.Text.Json.Nodes;
using Esb.IntegrationTests.Faults.Benches;
using Esb.IntegrationTests.Faults.Checking;
using Esb.IntegrationTests.Faults.Ledgers;
using Esb.IntegrationTests.Faults.Load;
using Esb.IntegrationTests.Faults.Sinks;

namespace Esb.IntegrationTests.Faults.Scenarios;

/// <summary>What is delivered slowly holds up nothing else.</summary>
[NonParallelizable, Category("Waits")]
public sealed class SlowOutsideTests
{
    [Test, Category("Faults"), CancelAfter(300_000), Property("Case", "T-OVL-2")]
    public async Task Slow_endpoint_among_twenty_holds_up_no_other(CancellationToken cancellationToken)
    {
        const int Endpoints = 20;
        await using var bench = await FaultBench.StartAsync(
            new BenchPlan
            {
                Case = "T-OVL-2",
                Hosts = 1,
                Sinks = async (_, folder) =>
                    [
                        .. await Task.WhenAll(
                            Enumerable
                                .Range(0, Endpoints)
                                .Select(number => HttpSink.StartAsync($"web{number}", folder, SinkPromises.None, SettingsOf(number)))
                        ),
                    ],
                Configure = configuration =>
                {
                    for (var number = 0; number < Endpoints; number++)
                        configuration["endpoints"]![$"intake{number}"] = new JsonObject
                        {
                            ["type"] = "http-inbound",
                            ["path"] = $"/work/{number}",
                            ["publish"] = $"work.of{number}",
                        };
                },
            },
            cancellationToken
        );
        ((HttpSink)bench.Sinks[0]).LatencyOf = () => TimeSpan.FromSeconds(5);
        using var load = bench.Load(
            new LoadPlan
            {
                Messages = 6_000,
                Keys = Endpoints,
                Senders = Endpoints,
                Rate = 300,
                LargestBody = 4_096,
                PathOf = key => $"/work/{key}",
            }
        );

        await load.RunAsync(cancellationToken);
        await Task.Delay(TimeSpan.FromSeconds(1), cancellationToken);
        var arrived = new List<int>();
        foreach (var sink in bench.Sinks)
            arrived.Add((await sink.ReadAsync(cancellationToken)).Count);
        var accepted = Enumerable
            .Range(0, Endpoints)
            .Select(number =>
                bench.Ledger.Messages.Count(message => message.Key == $"k{number}" && message.Outcome == SendOutcome.Confirmed)
            )
            .ToList();
        var refused = bench.Ledger.Messages.Count(message => message.Key == "k0" && message.Outcome == SendOutcome.Refused);
        ((HttpSink)bench.Sinks[0]).LatencyOf = () => TimeSpan.Zero;
        var verdicts = await bench.SettleAsync(cancellationToken, concerns: (sink, message) => $"web{message.Key[1..]}" == sink.Endpoint);

        var output = bench.Farm.Output;
        var warned = Enumerable
            .Range(0, Endpoints)
            .Where(number => output.Contains($"waiting for a free instance of endpoint web{number}:", StringComparison.Ordinal));
        var others = arrived.Skip(1).Zip(accepted.Skip(1), (got, sent) => (double)got / sent).Min();
        bench.Conclude(
            [verdicts[0], verdicts.Skip(1).MaxBy(verdict => verdict.Lost)!],
            $"20 endpoints, {load.Acknowledged:N0} at 300/s, one takes 5 s each",
            $"the slowest of the others had {others:P1} at once; {refused} refused for the slow one, and a warning that its pool is "
                + $"at its limit"
        );
        Assert.That(verdicts.SelectMany(verdict => verdict.Broken), Is.Empty);
        Assert.That(others, Is.GreaterThanOrEqualTo(0.95));
        Assert.That(refused, Is.Positive, "the queue of the slow one is bounded");
        Assert.That(warned, Is.EqualTo([0]), "whose pool is warned of: more deliveries than instances, each for long");
    }

    [Test, Category("Faults"), Category("Alone"), CancelAfter(180_000), Property("Case", "T-OVL-5")]
    public async Task Hundred_slow_deliveries_and_hundred_callers_need_few_threads(CancellationToken cancellationToken)
    {
        await using var bench = await FaultBench.StartAsync(
            new BenchPlan
            {
                Case = "T-OVL-5",
                Hosts = 1,
                Sinks = async (_, folder) =>
                    [
                        await HttpSink.StartAsync(
                            "web",
                            folder,
                            SinkPromises.None,
                            BenchConfiguration.Parallel(poolSize: 100, processingThreads: 100)
                        ),
                    ],
            },
            cancellationToken
        );
        ((HttpSink)bench.Sinks[0]).LatencyOf = () => TimeSpan.FromSeconds(2);
        var host = bench.Farm.Hosts[0];
        using var load = bench.Load(
            new LoadPlan
            {
                Messages = 3_000,
                Keys = 100,
                Senders = 100,
                Rate = 150,
                LargestBody = 2_048,
            }
        );
        var (threads, slowest) = (0, TimeSpan.Zero);

        var sending = load.RunAsync(cancellationToken);
        while (!sending.IsCompleted)
        {
            var started = TimeProvider.System.GetTimestamp();
            using (await host.Process.Client.GetAsync(new Uri(host.Process.Management, "/health/live"), cancellationToken))
                slowest = TimeSpan.FromTicks(Math.Max(slowest.Ticks, TimeProvider.System.GetElapsedTime(started).Ticks));
            threads = Math.Max(threads, Directory.GetDirectories($"/proc/{host.Process.Id}/task").Length);
            await Task.Delay(100, cancellationToken);
        }

        await sending;
        ((HttpSink)bench.Sinks[0]).LatencyOf = () => TimeSpan.Zero;
        var verdicts = await bench.SettleAsync(cancellationToken);

        bench.Conclude(
            verdicts,
            $"{load.Acknowledged:N0} from 100 callers to 100 deliveries of 2 s each",
            $"at most {threads} threads; /health/live took {slowest.TotalMilliseconds:0} ms at most"
        );
        Assert.That(threads, Is.LessThan(80));
        Assert.That(slowest, Is.LessThan(TimeSpan.FromMilliseconds(250)));
    }

    private static JsonObject SettingsOf(int number)
    {
        var settings = BenchConfiguration.Parallel(poolSize: 2, processingThreads: number == 0 ? 4 : 2);
        settings["subscribe"] = new JsonArray($"work.of{number}");
        settings["queue"] = new JsonObject { ["maxLength"] = 100 };
        return settings;
    }
}
