using Esb.IntegrationTests.Faults.Benches;
using Esb.IntegrationTests.Faults.Checking;
using Esb.IntegrationTests.Faults.Farm;
using Esb.IntegrationTests.Faults.Load;
using Esb.IntegrationTests.Faults.Sinks;

namespace Esb.IntegrationTests.Faults.Scenarios;

/// <summary>A host is asked to stop at moments of all kinds: it ends in time, and loses nothing.</summary>
[NonParallelizable, Category("Waits")]
public sealed class ShutdownTests
{
    private const string DrainDelay = "ESB__LIMITS__DRAINDELAY";

    // What a process ends with that does not listen to the signal yet.
    private const int UnheardSigterm = 128 + 15;

    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(35);

    [Test, Category("Faults"), CancelAfter(600_000), Property("Case", "T-SHU-1")]
    public async Task Host_that_is_stopped_under_load_again_and_again_loses_nothing(CancellationToken cancellationToken)
    {
        const int Stops = 6;
        await using var bench = await StartAsync("T-SHU-1", "2s", cancellationToken);
        var random = new Random(FaultBench.Seed);
        ((HttpSink)bench.Sinks[0]).LatencyOf = () =>
            random.Next(100) == 0 ? TimeSpan.FromSeconds(20 * random.NextDouble()) : TimeSpan.FromMilliseconds(random.Next(10, 100));
        var stops = new List<(int ExitCode, TimeSpan Took)>();
        using var load = bench.Load(
            new LoadPlan
            {
                Messages = 5_000,
                Rate = 200,
                Senders = 50,
            }
        );

        await load.RunAsync(cancellationToken, until: StopAgainAndAgainAsync());
        await bench.Farm.WaitForReadyAsync(cancellationToken);
        var verdicts = await bench.SettleAsync(cancellationToken);

        var clean = stops.Count(stop => stop.ExitCode == 0);
        bench.Conclude(
            verdicts,
            $"{load.Acknowledged:N0}, 200/s, work of 10 ms to 20 s; SIGTERM × {Stops}",
            $"{clean} of {Stops} ended clean, longest {stops.Max(stop => stop.Took).TotalSeconds:0.0} s"
        );
        Assert.That(clean, Is.GreaterThanOrEqualTo(Stops * 0.95), string.Join(", ", stops));
        Assert.That(stops.Max(stop => stop.Took), Is.LessThan(Limit));

        async Task StopAgainAndAgainAsync()
        {
            for (var stop = 0; stop < Stops; stop++)
            {
                await Task.Delay(TimeSpan.FromSeconds(1 + (3 * random.NextDouble())), cancellationToken);
                stops.Add(await bench.Farm.Hosts[0].StopAsync(cancellationToken));
                FaultBench.Log($"SIGTERM: exit code {stops[^1].ExitCode} after {stops[^1].Took.TotalSeconds:0.0} s");
                bench.Farm.Hosts[0].Start();
                await bench.Farm.WaitForReadyAsync(cancellationToken);
            }
        }
    }

    [Test, Category("Faults"), CancelAfter(180_000), Property("Case", "T-SHU-2")]
    public async Task Second_signal_ends_a_host_at_once_and_loses_nothing(CancellationToken cancellationToken)
    {
        await using var bench = await StartAsync("T-SHU-2", "2s", cancellationToken);
        var host = bench.Farm.Hosts[0];
        var sink = (HttpSink)bench.Sinks[0];
        sink.LatencyOf = () => TimeSpan.FromSeconds(15);
        using var load = bench.Load(new LoadPlan { Messages = 100, Rate = 100 });
        await load.RunAsync(cancellationToken);

        await host.SignalAsync("TERM");
        await Task.Delay(TimeSpan.FromSeconds(1), cancellationToken);
        var started = TimeProvider.System.GetTimestamp();
        await host.SignalAsync("TERM");
        var exitCode = await host.Process.WaitForExitAsync(cancellationToken);
        var took = TimeProvider.System.GetElapsedTime(started);
        await host.ForgetAsync();
        sink.LatencyOf = () => TimeSpan.Zero;
        host.Start();
        await host.WaitForReadyAsync(cancellationToken);
        var verdicts = await bench.SettleAsync(cancellationToken);

        bench.Conclude(
            verdicts,
            "100 of 15 s each; SIGTERM × 2",
            $"exit code {exitCode}, {took.TotalSeconds:0.0} s after the second signal"
        );
        Assert.That((exitCode, took < TimeSpan.FromSeconds(8)), Is.EqualTo((7, true)));
    }

    [
        TestCase("while it starts"),
        TestCase("while the broker is away"),
        TestCase("while the database is away"),
        TestCase("while both are away")
    ]
    [Category("Faults"), CancelAfter(180_000), Property("Case", "T-SHU-3")]
    public async Task Host_that_is_stopped_at_a_bad_moment_ends_in_time(string moment, CancellationToken cancellationToken)
    {
        await using var bench = await StartAsync("T-SHU-3", "2s", cancellationToken);
        using var load = bench.Load(new LoadPlan { Messages = 300, Rate = 300 });
        await load.RunAsync(cancellationToken);
        var away = new[] { "rabbitmq", "postgres" }
            .Where(server =>
                moment.Contains("both", StringComparison.Ordinal)
                || moment.Contains(server == "rabbitmq" ? "broker" : "database", StringComparison.Ordinal)
            )
            .ToList();
        var host = bench.Farm.Hosts[0];

        if (away.Count == 0)
            await RestartAsync(host, cancellationToken);
        foreach (var server in away)
            await bench.Servers.StopAsync(server);
        var (exitCode, took) = await host.StopAsync(cancellationToken);
        foreach (var server in away)
            await bench.Servers.StartAsync(server);
        host.Start();
        await host.WaitForReadyAsync(cancellationToken);
        var verdicts = await bench.SettleAsync(cancellationToken);

        bench.Conclude(verdicts, $"300; SIGTERM {moment}", $"exit code {exitCode} after {took.TotalSeconds:0.0} s");
        Assert.That(took, Is.LessThan(Limit));
        Assert.That(exitCode, Is.AnyOf(0, 7, UnheardSigterm), bench.Farm.Output);
    }

    [Test, Category("Faults"), CancelAfter(180_000), Property("Case", "T-SHU-4")]
    public async Task Callers_get_whole_answers_or_none_while_a_host_stops(CancellationToken cancellationToken)
    {
        await using var bench = await StartAsync("T-SHU-4", "2s", cancellationToken);
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        var clients = Enumerable.Range(0, 100).Select(_ => new KeepAliveClient(bench.Farm.Hosts[0].Public.Port)).ToList();
        var calling = Task.WhenAll(clients.Select(client => client.RunAsync(stop.Token)));

        await Task.Delay(TimeSpan.FromSeconds(3), cancellationToken);
        var (exitCode, took) = await bench.Farm.Hosts[0].StopAsync(cancellationToken);
        await stop.CancelAsync();
        await calling;

        var (complete, closed, truncated) = (
            clients.Sum(client => client.Complete),
            clients.Sum(client => client.ClosedBefore),
            clients.Sum(client => client.Truncated)
        );
        bench.Note(
            "100 callers; SIGTERM",
            $"{complete} whole answers, {closed} closed before an answer, {truncated} truncated; exit code {exitCode} after "
                + $"{took.TotalSeconds:0.0} s"
        );
        Assert.Multiple(() =>
        {
            Assert.That(complete, Is.GreaterThan(500));
            Assert.That(truncated, Is.Zero);
            Assert.That(exitCode, Is.Zero, bench.Farm.Output);
        });
    }

    private static async Task<FaultBench> StartAsync(string name, string drainDelay, CancellationToken cancellationToken)
    {
        var bench = await FaultBench.CreateAsync(
            new BenchPlan
            {
                Case = name,
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
            }
        );
        bench.Farm.Hosts[0].Set(DrainDelay, drainDelay);
        await bench.Farm.StartAsync(cancellationToken);
        return bench;
    }

    private static async Task RestartAsync(FarmHost host, CancellationToken cancellationToken)
    {
        await host.KillAsync();
        host.Start();
        await Task.Delay(TimeSpan.FromMilliseconds(600), cancellationToken); // it is on its way
    }
}
