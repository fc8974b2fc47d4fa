using System.Globalization;
using System.Text.Json.Nodes;
using Esb.IntegrationTests.EndToEnd;
using Esb.IntegrationTests.EndToEnd.Hosts;
using Esb.IntegrationTests.Faults.Benches;
using Esb.IntegrationTests.Faults.Checking;
using Esb.IntegrationTests.Faults.Ledgers;
using Esb.IntegrationTests.Faults.Load;
using Esb.IntegrationTests.Faults.Sinks;
using Microsoft.AspNetCore.Http;

namespace Esb.IntegrationTests.Faults.Scenarios.Ordering;

/// <summary>Some keys wait for an operator behind a message that can never be delivered: the others go on at their pace, and the lines go
/// on in order at his word.</summary>
[NonParallelizable, Category("Alone"), Property("Case", "T-ORD-2")]
public sealed class ParkedKeysTests
{
    private const int Keys = 40;
    private const int Poisoned = 10;
    private const int PoisonAt = 20;
    private const int Messages = 4_000;
    private const int Rate = 400;

    [Test, Category("Faults"), CancelAfter(240_000)]
    public async Task Parked_keys_slow_no_other_and_go_on_in_order_when_an_operator_releases_them(CancellationToken cancellationToken)
    {
        await using var bench = await FaultBench.StartAsync(
            new BenchPlan
            {
                Case = "T-ORD-2 (operator)",
                Sinks = async (_, folder) =>
                    [await HttpSink.StartAsync("web", folder, SinkPromises.Ordered, BenchConfiguration.OrderedByKey())],
            },
            cancellationToken
        );
        var (sink, isMended) = ((HttpSink)bench.Sinks[0], false);
        sink.Refusal = (id, _) =>
            ValueTask.FromResult(!Volatile.Read(ref isMended) && IsPoison(id) ? (IResult)TypedResults.UnprocessableEntity() : null);
        await MeasureAsync(bench, "warm", Messages / 5, cancellationToken);

        var before = await MeasureAsync(bench, "before", Messages, cancellationToken);
        var meanwhile = await MeasureAsync(bench, "k", Messages, cancellationToken);
        var after = await MeasureAsync(bench, "after", Messages, cancellationToken); // other keys, while the lines wait
        var expected = bench
            .Ledger.Messages.Where(message => IsBehindPoison(message) && message.Outcome == SendOutcome.Confirmed)
            .OrderBy(message => message.Sequence)
            .ToLookup(message => message.Key, message => message.Id);
        var lines = await WaitForLinesAsync(bench, expected.Sum(line => line.Count()), cancellationToken);
        var usual = (before + after) / 2;
        Volatile.Write(ref isMended, true);
        foreach (var line in lines)
            await ReleaseAsync(bench, line.Key, cancellationToken);
        var verdicts = await bench.SettleAsync(cancellationToken, evidence => evidence with { Kept = new HashSet<Guid>() });

        bench.Conclude(
            verdicts,
            $"{Messages:N0} of {Keys} keys at {Rate}/s, of which {Poisoned} keys fail at {PoisonAt}, between as many that all "
                + $"succeed, 2 hosts; each line released by a command",
            string.Create(
                CultureInfo.InvariantCulture,
                $"the other keys had {meanwhile / usual:P0} of their usual rate ({before:0}/s before, {after:0}/s after); "
                    + $"{lines.Sum(line => line.Count())} waited in {lines.Count} lines"
            )
        );
        Assert.Multiple(() =>
        {
            Assert.That(meanwhile, Is.GreaterThanOrEqualTo(0.9 * usual), "deliveries per second of the other keys");
            Assert.That(lines.Select(line => line.Key), Is.EquivalentTo(Enumerable.Range(0, Poisoned).Select(key => $"k{key}")));
            foreach (var line in lines)
                Assert.That(line, Is.EqualTo(expected[line.Key]), $"the line of {line.Key}, whole and in order");
            Assert.That(verdicts[0].Duplicated, Is.Zero, "each went on once");
        });
    }

    private static bool IsPoison(string id) => Enumerable.Range(0, Poisoned).Any(key => id == $"k{key}-{PoisonAt}");

    private static bool IsBehindPoison(SentMessage message) =>
        message.Sequence >= PoisonAt && Enumerable.Range(0, Poisoned).Any(key => message.Key == $"k{key}");

    // Deliveries per second of the keys that never fail, until the last of them has arrived.
    private static async Task<double> MeasureAsync(FaultBench bench, string prefix, int messages, CancellationToken cancellationToken)
    {
        var others = Enumerable.Range(Poisoned, Keys - Poisoned).Select(key => $"{prefix}{key}-").ToList();
        var started = TimeProvider.System.GetTimestamp();
        using var load = bench.Load(
            new LoadPlan
            {
                Messages = messages,
                Keys = Keys,
                KeyPrefix = prefix,
                Rate = Rate,
                LargestBody = 2_048,
            }
        );
        await load.RunAsync(cancellationToken);
        var accepted = bench.Ledger.Messages.Count(message => message.Outcome == SendOutcome.Confirmed && IsOfOthers(message.Id));
        while ((await bench.Sinks[0].ReadAsync(cancellationToken)).Count(entry => IsOfOthers(entry.Id)) < accepted)
            await Task.Delay(20, cancellationToken);
        return accepted / TimeProvider.System.GetElapsedTime(started).TotalSeconds;

        bool IsOfOthers(string id) => others.Any(key => id.StartsWith(key, StringComparison.Ordinal));
    }

    private static async Task<ILookup<string, string>> WaitForLinesAsync(
        FaultBench bench,
        int messages,
        CancellationToken cancellationToken
    )
    {
        while (true)
        {
            var rows = await bench.Database.QueryAsync<(string Key, string Id)>(
                $"select key, headers ->> '{FaultHeaders.Id}' from esb.parked_message order by number",
                null,
                cancellationToken
            );
            if (rows.Count >= messages)
                return rows.ToLookup(row => row.Key, row => row.Id);
            await Task.Delay(100, cancellationToken);
        }
    }

    private static async Task ReleaseAsync(FaultBench bench, string key, CancellationToken cancellationToken)
    {
        var host = bench.Farm.Hosts[0];
        var (exitCode, _, error) = await CommandLine.RunAsync(
            host.Folder,
            cancellationToken,
            "parked",
            "release",
            "web",
            key,
            "--reason",
            "mended",
            "--url",
            host.Process.Management.OriginalString
        );
        Assert.That(exitCode, Is.Zero, error);
    }
}
