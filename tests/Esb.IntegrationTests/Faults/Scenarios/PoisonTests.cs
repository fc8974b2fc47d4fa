using System.Globalization;
using System.Security.Cryptography;
using System.Text;
using Esb.IntegrationTests.Faults.Benches;
using Esb.IntegrationTests.Faults.Checking;
using Esb.IntegrationTests.Faults.Load;
using Esb.IntegrationTests.Faults.Results;
using Esb.IntegrationTests.Faults.Sinks;
using Microsoft.AspNetCore.Http;

namespace Esb.IntegrationTests.Faults.Scenarios;

/// <summary>Messages that can never be delivered become dead letters, and their neighbours do not wait for them.</summary>
[NonParallelizable]
public sealed class PoisonTests
{
    private const string Poisoned = "poisoned";
    private const int Pairs = 5;
    private const int MessagesOfPhase = 10_000;

    [Test, Category("Faults"), Category("Alone"), CancelAfter(900_000), Property("Case", "T-POI-1"), Property("Case", "T-POI-3")]
    public async Task One_percent_of_poison_is_kept_and_slows_the_others_by_little(CancellationToken cancellationToken)
    {
        await using var bench = await FaultBench.StartAsync(Plan("T-POI-1", hosts: 1), cancellationToken);
        ((HttpSink)bench.Sinks[0]).Refusal = (id, _) =>
            ValueTask.FromResult(IsPoisoned(id) ? (IResult)TypedResults.InternalServerError() : null);
        await SendAsync(bench, "warm", cancellationToken);

        var (clean, poisoned) = (new List<double>(), new List<double>());
        for (var pair = 1; pair <= Pairs; pair++)
        {
            clean.Add(await SendAsync(bench, $"clean{pair}", cancellationToken));
            poisoned.Add(await SendAsync(bench, $"{Poisoned}{pair}", cancellationToken));
        }

        var verdicts = await bench.SettleAsync(cancellationToken);

        // T-POI-3 asks for the same with every version that is there
        var version = (await bench.Servers.ControlRabbitMqAsync("version")).Trim();
        var ratio = Medians.Of(clean.Zip(poisoned, (without, with) => with / without));
        bench.Conclude(
            verdicts,
            $"{Pairs} × {MessagesOfPhase:N0} clean, then as many with 1 % poison, each as fast as they go",
            string.Create(
                CultureInfo.InvariantCulture,
                $"{ratio:P0} of the clean rate (median of pairs); clean {Medians.Of(clean):0}/s, with poison "
                    + $"{Medians.Of(poisoned):0}/s; RabbitMQ {version}"
            )
        );
        Assert.That(
            verdicts[0].Kept,
            Is.EqualTo(bench.Ledger.Messages.Count(message => IsPoisoned(message.Id) && message.MessageId is not null)),
            "each poison is a dead letter, and nothing else"
        );
        Assert.That(ratio, Is.GreaterThanOrEqualTo(0.85));
    }

    [Test, Category("Faults"), CancelAfter(240_000), Property("Case", "T-POI-5")]
    public async Task Dead_letter_whose_store_is_away_waits_without_a_hot_loop(CancellationToken cancellationToken)
    {
        await using var bench = await FaultBench.StartAsync(Plan("T-POI-5", hosts: 1), cancellationToken);
        var sink = (HttpSink)bench.Sinks[0];
        sink.Refusal = (id, _) => ValueTask.FromResult(IsPoison(id) ? (IResult)TypedResults.UnprocessableEntity() : null);
        using var load = bench.Load(
            new LoadPlan
            {
                Messages = 500,
                Rate = 100,
                LargestBody = 2_048,
            }
        );

        await bench.Servers.StopAsync("postgres");
        await load.RunAsync(cancellationToken);
        var away = TimeSpan.FromSeconds(20);
        await Task.Delay(away, cancellationToken);
        var busiest = sink.Attempts.Where(attempt => IsPoison(attempt.Id)).GroupBy(attempt => attempt.Id).Max(group => group.Count());
        await bench.Servers.StartAsync("postgres");
        var verdicts = await bench.SettleAsync(cancellationToken);

        bench.Conclude(verdicts, "500, 1 % poison, the store away for 25 s", $"busiest poison was tried × {busiest}");
        Assert.That(busiest, Is.LessThanOrEqualTo(1 + (away.TotalSeconds / 5)), "no more than once in five seconds");
    }

    // Deliveries per second, until 98 % of a phase have arrived: what is tried again comes later.
    private static async Task<double> SendAsync(FaultBench bench, string name, CancellationToken cancellationToken)
    {
        var before = bench.Sinks[0].ReadAsync(cancellationToken);
        var started = TimeProvider.System.GetTimestamp();
        using var load = bench.Load(
            new LoadPlan
            {
                Messages = MessagesOfPhase,
                Keys = 500,
                KeyPrefix = $"{name}-",
                Rate = 100_000,
                LargestBody = 2_048,
                Senders = 32,
            }
        );
        await load.RunAsync(cancellationToken);
        while ((await bench.Sinks[0].ReadAsync(cancellationToken)).Count - (await before).Count < MessagesOfPhase * 98 / 100)
            await Task.Delay(20, cancellationToken);
        return MessagesOfPhase * 0.98 / TimeProvider.System.GetElapsedTime(started).TotalSeconds;
    }

    private static BenchPlan Plan(string name, int hosts) =>
        new()
        {
            Case = name,
            Hosts = hosts,
            Sinks = async (_, folder) => [await HttpSink.StartAsync("web", folder, SinkPromises.None, BenchConfiguration.Parallel())],
        };

    private static bool IsPoisoned(string id) => id.StartsWith(Poisoned, StringComparison.Ordinal) && IsPoison(id);

    // One in a hundred, spread over all keys.
    private static bool IsPoison(string id) =>
        SHA256.HashData(Encoding.UTF8.GetBytes(id))[..2] is [var high, var low] && ((high << 8) | low) % 100 == 7;
}
