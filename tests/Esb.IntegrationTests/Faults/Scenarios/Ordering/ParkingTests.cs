using System.Collections.Concurrent;
using System.Text.Json.Nodes;
using Esb.IntegrationTests.Faults.Benches;
using Esb.IntegrationTests.Faults.Checking;
using Esb.IntegrationTests.Faults.Ledgers;
using Esb.IntegrationTests.Faults.Load;
using Esb.IntegrationTests.Faults.Nemeses;
using Esb.IntegrationTests.Faults.Sinks;
using Microsoft.AspNetCore.Http;

namespace Esb.IntegrationTests.Faults.Scenarios.Ordering;

/// <summary>A message in the middle of its key fails: the key waits, in order, and no other does.</summary>
[NonParallelizable, Category("Waits"), Property("Case", "T-ORD-2")]
public sealed class ParkingTests
{
    [Test, Category("Faults"), CancelAfter(400_000)]
    public async Task Key_behind_a_failed_message_waits_and_goes_on_in_order_though_hosts_die(CancellationToken cancellationToken)
    {
        const int Keys = 100,
            Poisoned = 25,
            At = 20;
        var isMended = false;
        // of each key the first that comes from there on: some are never accepted, while hosts are away
        var poisons = new ConcurrentDictionary<int, string>();
        await using var bench = await FaultBench.StartAsync(
            new BenchPlan
            {
                Case = "T-ORD-2",
                Sinks = async (_, folder) => [await HttpSink.StartAsync("web", folder, SinkPromises.Ordered, Settings())],
            },
            cancellationToken
        );
        var sink = (HttpSink)bench.Sinks[0];
        sink.Refusal = (id, _) =>
            ValueTask.FromResult(!Volatile.Read(ref isMended) && IsPoison(id) ? (IResult)TypedResults.InternalServerError() : null);
        var nemesis = FaultBench.NewNemesis().Track(2, 10, [.. bench.Farm.Hosts.Select(host => (HostFaults.Kill(host), 2))]);

        var accepted = await bench.RunAsync(
            new LoadPlan
            {
                Messages = 6_000,
                Keys = Keys,
                Rate = 150,
                LargestBody = 4_096,
            },
            nemesis,
            cancellationToken
        );
        while ((await bench.CheckAsync(cancellationToken, Unaudited)).Any(verdict => verdict.Lost > 0 || verdict.Stuck > 0))
            await Task.Delay(500, cancellationToken);
        var waiting = (await bench.CheckAsync(cancellationToken, Unaudited)).Single();
        var parked = bench
            .Ledger.Messages.Where(message => message.Outcome == SendOutcome.Confirmed && IsPoison(message.Id))
            .Select(message => message.Key)
            .ToHashSet();
        var overtaken = (await sink.ReadAsync(cancellationToken)).Count(entry =>
            parked.Contains(entry.Id.Split('-')[0]) && SequenceOf(entry.Id) >= At
        );
        Volatile.Write(ref isMended, true);
        var verdicts = await bench.SettleAsync(cancellationToken, evidence => evidence with { Kept = new HashSet<Guid>() });

        bench.Conclude(
            verdicts,
            $"{accepted:N0}, {Keys} keys, {parked.Count} of them fail at {At}; kill -9 host × 4",
            $"{waiting.Kept} waited in their lines, {overtaken} overtook"
        );
        Assert.That((waiting.Kept > parked.Count, overtaken), Is.EqualTo((true, 0)));

        bool IsPoison(string id) => IsOfPoisonedKey(id) && SequenceOf(id) >= At && poisons.GetOrAdd(KeyOf(id), id) == id;
        bool IsOfPoisonedKey(string id) => KeyOf(id) < Poisoned;
        static int KeyOf(string id) => int.Parse(id.AsSpan(1, id.IndexOf('-') - 1), null);
        static int SequenceOf(string id) => int.Parse(id.AsSpan(id.IndexOf('-') + 1), null);
        static SinkEvidence Unaudited(SinkEvidence evidence) => evidence with { TerminalStates = null };
    }

    // Enough attempts for the whole test: the line is released by the attempt that succeeds.
    private static JsonObject Settings()
    {
        var settings = BenchConfiguration.OrderedByKey();
        settings["retry"] = new JsonObject
        {
            ["immediate"] = 0,
            ["delays"] = new JsonArray([.. Enumerable.Repeat("3s", 80).Select(delay => (JsonNode)delay)]),
        };
        return settings;
    }
}
