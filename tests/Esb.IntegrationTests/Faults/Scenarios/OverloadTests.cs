using System.Text.Json.Nodes;
using Esb.IntegrationTests.Faults.Benches;
using Esb.IntegrationTests.Faults.Checking;
using Esb.IntegrationTests.Faults.Ledgers;
using Esb.IntegrationTests.Faults.Load;
using Esb.IntegrationTests.Faults.Results;
using Esb.IntegrationTests.Faults.Sinks;

namespace Esb.IntegrationTests.Faults.Scenarios;

/// <summary>More comes than can be done: the excess is refused early, and what was accepted is done.</summary>
[NonParallelizable]
public sealed class OverloadTests
{
    [Test, Category("Faults"), CancelAfter(600_000), Property("Case", "T-OVL-1")]
    public async Task Ten_times_the_callers_cost_no_goodput_and_lose_nothing(CancellationToken cancellationToken)
    {
        await using var bench = await StartAsync("T-OVL-1", BenchConfiguration.Parallel(), cancellationToken, configuration => configuration["endpoints"]!["intake"]!["maxConcurrentCalls"] = 30);
        await SendForAsync(bench, senders: 30, "warm", TimeSpan.FromSeconds(10), cancellationToken);
        var baseline = await SendForAsync(bench, senders: 30, "usual", TimeSpan.FromSeconds(20), cancellationToken);
        var overload = await SendForAsync(bench, senders: 300, "ten times", TimeSpan.FromSeconds(60), cancellationToken);
        var after = await SendForAsync(bench, senders: 30, "after", TimeSpan.FromSeconds(20), cancellationToken);
        var verdicts = await bench.SettleAsync(cancellationToken);

        bench.Conclude(verdicts, "30 callers, then 300 for 60 s, then 30; 100 ms after a refusal they call again", $"usual {baseline}; ten times {overload}; after {after}");
        Assert.Multiple(() =>
        {
            Assert.That(overload.Goodput, Is.GreaterThanOrEqualTo(0.8 * baseline.Goodput), "goodput");
            Assert.That(overload.AcceptedP99, Is.LessThanOrEqualTo((2 * baseline.AcceptedP99) + TimeSpan.FromMilliseconds(200)), "accepted");
            Assert.That(overload.RefusedP99, Is.LessThan(TimeSpan.FromMilliseconds(100)), "refused");
            Assert.That(after.AcceptedP99, Is.LessThanOrEqualTo(baseline.AcceptedP99 * 1.5), "afterwards");
        });
    }

    [Test, Category("Faults"), CancelAfter(300_000), Property("Case", "T-OVL-2")]
    public async Task Slow_endpoint_among_twenty_holds_up_no_other(CancellationToken cancellationToken)
    {
        const int Endpoints = 20;
        await using var bench = await FaultBench.StartAsync(
            new BenchPlan
            {
                Case = "T-OVL-2",
                Hosts = 1,
                Sinks = async (_, folder) => [.. await Task.WhenAll(Enumerable.Range(0, Endpoints).Select(number => HttpSink.StartAsync($"web{number}", folder, SinkPromises.None, SettingsOf(number))))],
                Configure = configuration =>
                {
                    for (var number = 0; number < Endpoints; number++)
                        configuration["endpoints"]![$"intake{number}"] = new JsonObject { ["type"] = "http-inbound", ["path"] = $"/work/{number}", ["publish"] = $"work.of{number}" };
                },
            },
            cancellationToken);
        ((HttpSink)bench.Sinks[0]).LatencyOf = () => TimeSpan.FromSeconds(5);
        using var load = bench.Load(new LoadPlan { Messages = 6_000, Keys = Endpoints, Senders = Endpoints, Rate = 300, LargestBody = 4_096, PathOf = key => $"/work/{key}" });

        await load.RunAsync(cancellationToken);
        await Task.Delay(TimeSpan.FromSeconds(1), cancellationToken);
        var arrived = new List<int>();
        foreach (var sink in bench.Sinks) arrived.Add((await sink.ReadAsync(cancellationToken)).Count);
        var accepted = Enumerable.Range(0, Endpoints).Select(number => bench.Ledger.Messages.Count(message => message.Key == $"k{number}" && message.Outcome == SendOutcome.Confirmed)).ToList();
        var refused = bench.Ledger.Messages.Count(message => message.Key == "k0" && message.Outcome == SendOutcome.Refused);
        ((HttpSink)bench.Sinks[0]).LatencyOf = () => TimeSpan.Zero;
        await bench.WaitForEmptyQueuesAsync(cancellationToken);
        var verdicts = new List<Verdict>();
        foreach (var sink in bench.Sinks) verdicts.Add(await CheckOwnAsync(bench, sink, cancellationToken));

        var others = arrived.Skip(1).Zip(accepted.Skip(1), (got, sent) => (double)got / sent).Min();
        bench.Conclude([verdicts[0], verdicts.Skip(1).MaxBy(verdict => verdict.Lost)!], $"20 endpoints, {load.Acknowledged:N0} at 300/s, one takes 5 s each", $"the slowest of the others had {others:P1} at once; {refused} refused for the slow one");
        Assert.That(verdicts.SelectMany(verdict => verdict.Broken), Is.Empty);
        Assert.That(others, Is.GreaterThanOrEqualTo(0.95));
        Assert.That(refused, Is.Positive, "the queue of the slow one is bounded");
    }

    [TestCase("memory"), TestCase("disk")]
    [Category("Faults"), CancelAfter(300_000), Property("Case", "T-OVL-3")]
    public async Task Alarm_of_the_broker_stops_intake_and_nothing_else(string alarm, CancellationToken cancellationToken)
    {
        await using var bench = await StartAsync($"T-OVL-3 ({alarm})", BenchConfiguration.Parallel(poolSize: 4, processingThreads: 4), cancellationToken);
        var sink = (HttpSink)bench.Sinks[0];
        sink.LatencyOf = () => TimeSpan.FromMilliseconds(200); // so that there is something left to consume
        var fault = alarm == "memory" ? Nemeses.ServerFaults.MemoryAlarm(bench.Servers) : Nemeses.ServerFaults.DiskAlarm(bench.Servers);
        var host = bench.Farm.Hosts[0];
        var unready = new List<TimeSpan>();
        var consumed = new List<int>();
        using var load = bench.Load(new LoadPlan { Messages = 2_000, Rate = 60, LargestBody = 2_048 });

        var sending = load.RunAsync(cancellationToken, until: AlarmAsync());
        await sending;
        sink.LatencyOf = () => TimeSpan.Zero;
        var verdicts = await bench.SettleAsync(cancellationToken);

        var slowest = bench.Ledger.Messages.Max(message => message.Took);
        bench.Conclude(verdicts, $"{load.Acknowledged:N0}, 60/s; {alarm} alarm of 20 s × 2", $"unready after {string.Join(", ", unready.Select(time => $"{time.TotalSeconds:0.0} s"))}; consumed meanwhile {string.Join(", ", consumed)}; longest wait for an outcome {slowest.TotalSeconds:0.0} s");
        Assert.Multiple(() =>
        {
            Assert.That(unready, Has.All.LessThan(TimeSpan.FromSeconds(5)));
            Assert.That(consumed, Has.All.GreaterThan(20), "deliveries go on");
            Assert.That(slowest, Is.LessThan(TimeSpan.FromSeconds(25)), "nobody hangs");
        });

        async Task AlarmAsync()
        {
            for (var round = 0; round < 2; round++)
            {
                await Task.Delay(TimeSpan.FromSeconds(5), cancellationToken);
                await fault.StrikeAsync();
                var struck = TimeProvider.System.GetTimestamp();
                var before = (await sink.ReadAsync(cancellationToken)).Count;
                while (await host.IsReadyAsync(cancellationToken) && TimeProvider.System.GetElapsedTime(struck) < TimeSpan.FromSeconds(20)) await Task.Delay(50, cancellationToken);
                unready.Add(TimeProvider.System.GetElapsedTime(struck));
                await Task.Delay(TimeSpan.FromSeconds(20) - TimeProvider.System.GetElapsedTime(struck) + TimeSpan.FromMilliseconds(1), cancellationToken);
                consumed.Add((await sink.ReadAsync(cancellationToken)).Count - before);
                await fault.HealAsync();
                await host.WaitForReadyAsync(cancellationToken);
            }
        }
    }

    [Test, Category("Faults"), CancelAfter(180_000), Property("Case", "T-OVL-5")]
    public async Task Hundred_slow_deliveries_and_hundred_callers_need_few_threads(CancellationToken cancellationToken)
    {
        await using var bench = await StartAsync("T-OVL-5", BenchConfiguration.Parallel(poolSize: 100, processingThreads: 100), cancellationToken);
        ((HttpSink)bench.Sinks[0]).LatencyOf = () => TimeSpan.FromSeconds(2);
        var host = bench.Farm.Hosts[0];
        using var load = bench.Load(new LoadPlan { Messages = 3_000, Keys = 100, Senders = 100, Rate = 150, LargestBody = 2_048 });
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

        bench.Conclude(verdicts, $"{load.Acknowledged:N0} from 100 callers to 100 deliveries of 2 s each", $"at most {threads} threads; /health/live took {slowest.TotalMilliseconds:0} ms at most");
        Assert.That(threads, Is.LessThan(80));
        Assert.That(slowest, Is.LessThan(TimeSpan.FromMilliseconds(250)));
    }

    private static Task<FaultBench> StartAsync(string name, JsonObject settings, CancellationToken cancellationToken, Action<JsonObject>? configure = null) => FaultBench.StartAsync(
        new BenchPlan
        {
            Case = name,
            Hosts = 1,
            Sinks = async (_, folder) => [await HttpSink.StartAsync("web", folder, SinkPromises.None, settings)],
            Configure = configure ?? (_ => { }),
        },
        cancellationToken);

    private static JsonObject SettingsOf(int number)
    {
        var settings = BenchConfiguration.Parallel(poolSize: 2, processingThreads: 2);
        settings["subscribe"] = new JsonArray($"work.of{number}");
        settings["queue"] = new JsonObject { ["maxLength"] = 100 };
        return settings;
    }

    private static async Task<Verdict> CheckOwnAsync(FaultBench bench, ISink sink, CancellationToken cancellationToken)
    {
        var own = bench.Ledger.Messages.Where(message => $"web{message.Key[1..]}" == sink.Endpoint).ToList();
        return Checker.Check(own, new SinkEvidence { Endpoint = sink.Endpoint, Entries = await sink.ReadAsync(cancellationToken) });
    }

    private static async Task<Phase> SendForAsync(FaultBench bench, int senders, string name, TimeSpan time, CancellationToken cancellationToken)
    {
        var before = bench.Ledger.Messages.Select(message => message.Id).ToHashSet();
        var plan = new LoadPlan { Messages = 0, Keys = senders, Senders = senders, Rate = 1_000_000, LargestBody = 2_048, KeyPrefix = name.Replace(' ', '-'), PauseAfterRefusal = TimeSpan.FromMilliseconds(100) };
        using var load = bench.Load(plan);
        await load.RunAsync(cancellationToken, until: Task.Delay(time, cancellationToken));
        var sent = bench.Ledger.Messages.Where(message => !before.Contains(message.Id)).ToList();
        var accepted = sent.Where(message => message.Outcome == SendOutcome.Confirmed).ToList();
        var refused = sent.Where(message => message.Outcome == SendOutcome.Refused).ToList();
        return new Phase(accepted.Count / time.TotalSeconds, Latencies.Percentile(accepted, 0.99), refused.Count / time.TotalSeconds, Latencies.Percentile(refused, 0.99));
    }

    private sealed record Phase(double Goodput, TimeSpan AcceptedP99, double Refusals, TimeSpan RefusedP99)
    {
        public override string ToString() =>
            FormattableString.Invariant($"{Goodput:0}/s accepted, p99 {AcceptedP99.TotalMilliseconds:0} ms, {Refusals:0}/s refused, p99 {RefusedP99.TotalMilliseconds:0} ms");
    }
}
