using Esb.IntegrationTests.Faults.Benches;
using Esb.IntegrationTests.Faults.Checking;
using Esb.IntegrationTests.Faults.Farm;
using Esb.IntegrationTests.Faults.Load;
using Esb.IntegrationTests.Faults.Nemeses;
using Esb.IntegrationTests.Faults.Sinks;

namespace Esb.IntegrationTests.Faults.Scenarios.Ordering;

/// <summary>The host that delivers in order is frozen with messages in its hands, another takes over, and the first one comes
/// back.</summary>
[NonParallelizable, Category("Waits"), Property("Case", "T-ORD-3")]
public sealed class LateHostTests
{
    private const int Rounds = 3;
    private const int AtLeastHeld = 16;

    [Test, Category("Faults"), CancelAfter(400_000)]
    public async Task Host_that_comes_back_begins_nothing_that_another_has_taken_over(CancellationToken cancellationToken)
    {
        await using var bench = await FaultBench.CreateAsync(
            new BenchPlan
            {
                Case = "T-ORD-3",
                Sinks = async (database, folder) =>
                    [
                        await HttpSink.StartAsync("web", folder, SinkPromises.Ordered, BenchConfiguration.Ordered()),
                        await SqlSink.CreateAsync(
                            "effects",
                            database,
                            SinkPromises.Ordered | SinkPromises.Once,
                            BenchConfiguration.OrderedByKey()
                        ),
                    ],
            }
        );
        var sink = (HttpSink)bench.Sinks[0];
        var loading = true;
        // so that messages wait, in the queue and in the hands of the host
        sink.LatencyOf = () => TimeSpan.FromMilliseconds(loading ? 500 : 20);
        foreach (var (host, number) in bench.Farm.Hosts.Select((host, number) => (host, number)))
            host.Set("ESB__ENDPOINTS__WEB__URL", new Uri(sink.Url, $"/{number}").AbsoluteUri);
        await bench.Farm.StartAsync(cancellationToken);

        var (accepted, late, held) = (0, 0, new List<int>());
        for (var round = 0; round < Rounds; round++)
        {
            loading = true;
            accepted += await LoadAsync(bench, round, cancellationToken);
            loading = false;
            var frozen = bench.Farm.Hosts[NumberOf(sink.Attempts.Last())];
            await FreezeAsync(bench, sink, frozen, held, cancellationToken);
            var continued = TimeProvider.System.GetUtcNow();
            await bench.WaitForEmptyQueuesAsync(cancellationToken);
            await bench.Farm.WaitForReadyAsync(cancellationToken);
            late += CountLate(sink, bench.Farm.Hosts.ToList().IndexOf(frozen), continued);
        }

        var verdicts = await bench.SettleAsync(cancellationToken);

        bench.Conclude(
            verdicts,
            $"{accepted:N0}, 50 keys, 2 hosts; SIGSTOP of the one that delivers, until the other has taken over × {Rounds}",
            $"it held {string.Join(", ", held)} unsettled messages, and began {late} of them after it went on"
        );
        Assert.That(held, Is.All.GreaterThanOrEqualTo(AtLeastHeld));
        Assert.That(late, Is.Zero, "deliveries begun late");
    }

    // To the hosts while both are well: who sends to a frozen one would wait for it.
    private static async Task<int> LoadAsync(FaultBench bench, int round, CancellationToken cancellationToken)
    {
        using var load = bench.Load(
            new LoadPlan
            {
                Messages = 1_500,
                Keys = 50,
                KeyPrefix = $"r{round}k",
                Rate = 400,
                LargestBody = 2_048,
            }
        );
        await load.RunAsync(cancellationToken);
        return load.Acknowledged;
    }

    private static async Task FreezeAsync(
        FaultBench bench,
        HttpSink sink,
        FarmHost frozen,
        List<int> held,
        CancellationToken cancellationToken
    )
    {
        var number = bench.Farm.Hosts.ToList().IndexOf(frozen);
        var pause = HostFaults.Pause(frozen);
        await pause.StrikeAsync();
        try
        {
            held.Add(await ReadHeldAsync(bench, cancellationToken));
            while (NumberOf(sink.Attempts.Last()) == number)
                await Task.Delay(100, cancellationToken);
            await Task.Delay(TimeSpan.FromSeconds(2), cancellationToken); // the other one works on what the first one held
        }
        finally
        {
            await pause.HealAsync();
        }
    }

    // The broker counts now and then only; the other host takes over after 10 s at the earliest.
    private static async Task<int> ReadHeldAsync(FaultBench bench, CancellationToken cancellationToken)
    {
        var started = TimeProvider.System.GetTimestamp();
        while (true)
        {
            var held = (await bench.Records.ReadUnsettledAsync())[$"endpoints.{bench.Name}.web"];
            if (held >= AtLeastHeld || TimeProvider.System.GetElapsedTime(started) > TimeSpan.FromSeconds(7))
                return held;
            await Task.Delay(500, cancellationToken);
        }
    }

    // What the other one has delivered, and the first one sends once more though it was no longer its own. The one that was under way when
    // it froze has been sent before.
    private static int CountLate(HttpSink sink, int frozen, DateTimeOffset continued)
    {
        var before = sink.Attempts.Where(attempt => attempt.At < continued).Select(attempt => attempt.Id).ToHashSet();
        return sink.Attempts.Count(attempt => attempt.At >= continued && NumberOf(attempt) == frozen && before.Contains(attempt.Id));
    }

    private static int NumberOf((string Id, DateTimeOffset At, string Path) attempt) => int.Parse(attempt.Path.AsSpan(1), null);
}
