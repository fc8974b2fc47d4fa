using System.Text.Json;
using System.Text.Json.Nodes;
using Esb.IntegrationTests.EndToEnd;
using Esb.IntegrationTests.EndToEnd.Hosts;
using Esb.IntegrationTests.Faults.Benches;
using Esb.IntegrationTests.Faults.Farm;
using Esb.IntegrationTests.Faults.Load;
using Esb.IntegrationTests.Faults.Nemeses;
using Esb.IntegrationTests.Faults.Network;
using Esb.IntegrationTests.Faults.Results;
using Esb.IntegrationTests.Faults.Sinks;

namespace Esb.IntegrationTests.Faults.Scenarios;

/// <summary>Hosts, broker, database and outside die while callers wait for answers, of relays, calls, and requests over topics: success is
/// always the whole right answer, and comes again soon.</summary>
[NonParallelizable, Property("Case", "T-DEL-1")]
public sealed class AnswerTests
{
    private const int Callers = 24;

    private static readonly CallWay[] Ways =
    [
        new("/relay", answer => answer),
        new("/call", answer => answer),
        new("/ask", answer => answer),
        new("/look-up", answer => JsonDocument.Parse(answer).RootElement.EnumerateArray().Single().GetProperty("body").GetString()),
    ];

    [Test, Category("Thorough"), Category("FaultsSmoke"), CancelAfter(180_000)]
    public Task Smoke(CancellationToken cancellationToken) =>
        RunAsync(strikes: (Host: 2, Broker: 1, Database: 1, Outside: 1), longestPause: 2, cancellationToken);

    [Test, Category("Faults"), Category("Paced"), CancelAfter(900_000)]
    public Task Full(CancellationToken cancellationToken) =>
        RunAsync(strikes: (Host: 12, Broker: 5, Database: 5, Outside: 5), longestPause: 12, cancellationToken);

    private static async Task RunAsync(
        (int Host, int Broker, int Database, int Outside) strikes,
        double longestPause,
        CancellationToken cancellationToken
    )
    {
        await using var outside = await EchoBackend.StartAsync();
        await using var network = await NetworkProxies.StartAsync(outside.Url.Port, FaultBench.Log);
        await using var bench = await FaultBench.StartAsync(
            new BenchPlan
            {
                Case = "T-DEL-1 (answers)",
                Sinks = (_, _) => Task.FromResult<IReadOnlyList<ISink>>([]),
                Configure = configuration => AddWays(configuration, $"http://127.0.0.1:{network.Port}/echo"),
            },
            cancellationToken
        );
        var nemesis = FaultBench
            .NewNemesis()
            .Track(
                1,
                longestPause,
                (ServerFaults.KillBroker(bench.Servers), strikes.Broker),
                (ServerFaults.KillDatabase(bench.Servers), strikes.Database),
                (NetworkFaults.Reset(network, "outside"), strikes.Outside),
                (NetworkFaults.CutAnswers(network, "outside"), strikes.Outside),
                (NetworkFaults.Stall(network, "outside").Lasting(1, 5), strikes.Outside)
            )
            .Track(1, longestPause, [.. bench.Farm.Hosts.Select(host => (HostFaults.Kill(host), strikes.Host / 2))]);
        using var load = new CallLoad(Ways, bench.AnyHost, FaultBench.Seed);

        await bench.RunAsync(
            striking => load.RunAsync(Callers, striking, cancellationToken),
            ending => StrikeAsync(nemesis, bench.Farm, load, ending),
            cancellationToken
        );

        var calls = load.Outcomes;
        var recovery = RecoveryOf(nemesis.Strikes, bench.Farm, calls);
        int Count(CallResult result) => calls.Count(call => call.Result == result);
        bench.Note(
            $"{calls.Count:N0} calls of 0.2 to 64 KiB, {Callers} callers; kill -9 host × {strikes.Host}, broker × {strikes.Broker}, "
                + $"database × {strikes.Database}; connections to the external system reset, cut and silent × {3 * strikes.Outside}",
            $"{Count(CallResult.Right):N0} right answers, {Count(CallResult.Wrong)} wrong, {Count(CallResult.Refused):N0} refused, "
                + $"{Count(CallResult.Broken):N0} broken off; recovery {recovery}"
        );
        Assert.Multiple(() =>
        {
            Assert.That(calls.Where(call => call.Result == CallResult.Wrong), Is.Empty);
            Assert.That(calls.Where(call => call.Result != CallResult.Right), Is.Not.Empty, "the faults were felt");
            Assert.That(recovery.Slowest95, Is.LessThan(TimeSpan.FromSeconds(15)), "95 % of the recoveries");
        });
    }

    private static void AddWays(JsonObject configuration, string outside)
    {
        configuration["topics"]!["questions"] = new JsonObject { ["persistent"] = false };
        var endpoints = configuration["endpoints"]!.AsObject();
        endpoints["outside"] = new JsonObject
        {
            ["type"] = "http-outbound",
            ["url"] = outside,
            ["timeout"] = "10s",
            ["poolSize"] = 2 * Callers,
        };
        endpoints["relay"] = new JsonObject
        {
            ["type"] = "http-inbound",
            ["path"] = "/relay",
            ["relay"] = "outside",
        };
        endpoints["answers"] = Answering("questions.outside", new JsonObject { ["type"] = "http-outbound", ["url"] = outside });
        endpoints["rows"] = Answering(
            "questions.database",
            new JsonObject
            {
                ["type"] = "sql-outbound",
                ["connection"] = "sink",
                ["query"] = "select @body as body",
                ["parameters"] = new JsonObject { ["body"] = new JsonObject { ["message"] = "body" } },
            }
        );
        var processes = new JsonObject();
        foreach (
            var (name, step) in new[]
            {
                ("call", new JsonObject { ["call"] = "outside" }),
                (
                    "ask",
                    new JsonObject
                    {
                        ["request"] = new JsonObject { ["subject"] = "questions.outside", ["timeout"] = "10s" },
                    }
                ),
                (
                    "look-up",
                    new JsonObject
                    {
                        ["request"] = new JsonObject { ["subject"] = "questions.database", ["timeout"] = "10s" },
                    }
                ),
            }
        )
        {
            endpoints[name] = new JsonObject
            {
                ["type"] = "http-inbound",
                ["path"] = $"/{name}",
                ["mode"] = "request-reply",
                ["process"] = name,
            };
            processes[name] = new JsonArray(step);
        }

        configuration["processes"] = processes;
    }

    private static JsonObject Answering(string subject, JsonObject settings)
    {
        foreach (var (name, value) in BenchConfiguration.Parallel())
            settings[name] = value?.DeepClone();
        settings["subscribe"] = new JsonArray(subject);
        settings["timeout"] = "10s";
        return settings;
    }

    // Callers go on until each way was answered by each host after the last fault.
    private static async Task StrikeAsync(Nemesis nemesis, HostFarm farm, CallLoad load, CancellationToken cancellationToken)
    {
        await nemesis.RunAsync(cancellationToken);
        var mended = TimeProvider.System.GetUtcNow();
        while (farm.Hosts.Any(host => Ways.Any(way => NextRight(load.Outcomes, way, host, mended) is null)))
            await Task.Delay(TimeSpan.FromMilliseconds(100), cancellationToken);
    }

    // Until each way is answered again: by the host that was killed, and by any after a fault of something else.
    private static Recovery RecoveryOf(IReadOnlyList<Strike> strikes, HostFarm farm, IReadOnlyList<CallOutcome> calls) =>
        new([
            .. strikes.SelectMany(strike =>
            {
                var struck = farm.Hosts.FirstOrDefault(host => strike.Name.EndsWith(host.Name, StringComparison.Ordinal));
                return Ways.Select(way => RecoveryOf(strike.HealedAt, strikes, moment => NextRight(calls, way, struck, moment)))
                    .OfType<TimeSpan>();
            }),
        ]);

    // From the moment, or from the end of what else was struck before there was an answer.
    private static TimeSpan? RecoveryOf(DateTimeOffset moment, IReadOnlyList<Strike> strikes, Func<DateTimeOffset, DateTimeOffset?> next)
    {
        while (strikes.FirstOrDefault(other => other.StruckAt <= next(moment) && moment < other.HealedAt) is { } meanwhile)
            moment = meanwhile.HealedAt;
        return next(moment) - moment;
    }

    private static DateTimeOffset? NextRight(IReadOnlyList<CallOutcome> calls, CallWay way, FarmHost? host, DateTimeOffset moment) =>
        calls
            .Where(call =>
                call.Path == way.Path
                && (host is null || call.Host == host.Public)
                && call.Result == CallResult.Right
                && call.BegunAt >= moment
            )
            .Min(call => (DateTimeOffset?)call.EndedAt);
}
