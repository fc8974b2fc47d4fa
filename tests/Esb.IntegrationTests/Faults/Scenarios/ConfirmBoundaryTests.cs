using Esb.IntegrationTests.Faults.Benches;
using Esb.IntegrationTests.Faults.Checking;
using Esb.IntegrationTests.Faults.Ledgers;
using Esb.IntegrationTests.Faults.Load;
using Esb.IntegrationTests.Faults.Sinks;

namespace Esb.IntegrationTests.Faults.Scenarios;

/// <summary>The connection to the broker is cut at each place between the first byte of a publish and the last of its confirm.</summary>
[NonParallelizable, Property("Case", "T-DEL-2")]
public sealed class ConfirmBoundaryTests
{
    private const int BodyLength = 1_024;
    private const int Burst = 10;
    private const int Rounds = 16;

    private const int PublishBytes = 1_500; // of a publish of this body, in three frames
    private const int ConfirmBytes = 21; // which may stand for many publishes

    // Bytes that still pass, beyond whole publishes or confirms.
    private static readonly (int Bytes, bool FromServer)[] Cuts =
    [
        (1, false),
        (20, false),
        (60, false),
        (200, false),
        (400, false),
        (800, false),
        (1_200, false),
        (1_450, false),
        (1_499, false),
        (1, true),
        (8, true),
        (20, true),
        (21, true),
    ];

    [Test, Category("Faults"), Category("Paced"), CancelAfter(600_000)]
    public async Task Publish_that_is_cut_anywhere_ends_confirmed_or_unknown_and_in_time(CancellationToken cancellationToken)
    {
        await using var bench = await FaultBench.StartAsync(
            new BenchPlan
            {
                Case = "T-DEL-2",
                Hosts = 1,
                IsProxied = true,
                Sinks = async (database, _) =>
                    [await SqlSink.CreateAsync("effects", database, SinkPromises.Once, BenchConfiguration.Parallel())],
            },
            cancellationToken
        );
        using var sender = new HttpSender();
        var random = new Random(FaultBench.Seed);
        var number = 0;
        for (var round = 0; round < Rounds; round++)
        {
            foreach (var (bytes, fromServer) in Cuts)
            {
                await bench.Farm.WaitForReadyAsync(cancellationToken);
                await bench.Network.Broker.CutAfterAsync(
                    bytes + random.Next(Burst) * (fromServer ? ConfirmBytes : PublishBytes),
                    fromServer
                );
                var sending = Task.WhenAll(
                    Enumerable.Range(0, Burst).Select(_ => SendAsync(bench, sender, Interlocked.Increment(ref number), cancellationToken))
                );
                await Task.WhenAny(sending, Task.Delay(TimeSpan.FromMilliseconds(300), cancellationToken));
                await bench.Network.Broker.HealAsync();
                await sending;
            }
        }

        var verdicts = await bench.SettleAsync(cancellationToken);

        var sent = bench.Ledger.Messages;
        var longest = sent.Max(message => message.Took);
        var outcomes = string.Join(
            ", ",
            sent.GroupBy(message => message.Outcome).Select(group => $"{group.Count()} {group.Key.ToString().ToLowerInvariant()}")
        );
        bench.Conclude(
            verdicts,
            $"{number:N0} publishes, {Burst} at once; cut at {Cuts.Length} places × {Rounds}",
            $"{outcomes}; longest {longest.TotalSeconds:0.0} s"
        );
        Assert.That(longest, Is.LessThan(TimeSpan.FromSeconds(12)));
    }

    private static async Task SendAsync(FaultBench bench, HttpSender sender, int number, CancellationToken cancellationToken)
    {
        var id = $"k{number}-1";
        var body = FaultBody.Make(id, BodyLength, new Random(FaultBench.Seed + number));
        var message = new SentMessage(id, $"k{number}", 1, "work.item", FaultBody.HashOf(body), TimeProvider.System.GetUtcNow());
        await bench.Ledger.BeginAsync(message);
        var started = TimeProvider.System.GetTimestamp();
        var (outcome, messageId) = await sender.SendAsync(new Uri(bench.Farm.Hosts[0].Public, "/work"), message, body, cancellationToken);
        var took = TimeProvider.System.GetElapsedTime(started);
        await bench.Ledger.EndAsync(
            message with
            {
                Outcome = outcome,
                MessageId = messageId,
                OutcomeAt = TimeProvider.System.GetUtcNow(),
                Took = took,
            }
        );
    }
}
