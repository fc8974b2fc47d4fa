using System.Globalization;
using System.Text.Json.Nodes;
using Esb.IntegrationTests.EndToEnd;
using Esb.IntegrationTests.EndToEnd.Hosts;
using Esb.IntegrationTests.Faults.Benches;
using Esb.IntegrationTests.Faults.Checking;
using Esb.IntegrationTests.Faults.Ledgers;
using Esb.IntegrationTests.Faults.Load;
using Esb.IntegrationTests.Faults.Nemeses;
using Esb.IntegrationTests.Faults.Sinks;
using Npgsql;

namespace Esb.IntegrationTests.Faults.Scenarios;

/// <summary>Two hosts go on with another configuration again and again, one thing changed at a time, under load.</summary>
/// <remarks>Beside the endpoints that are changed, others are paused, stopped, parked, of a single instance, or get their dead letters
/// again.</remarks>
[NonParallelizable, Property("Case", "T-CFG-1")]
public sealed class ReloadTests
{
    private const int Wrong = 5; // each fifth reload is
    private const int PausedAtMost = 2; // seconds, of an endpoint that is changed
    private const int SlowerAtMost = 50; // milliseconds, of the others
    private const int FewApplies = 30;

    // How large the run with versions is: ESB_RELOAD_APPLIES=1000 ESB_RELOAD_RATE=2000 ESB_RELOAD_HOSTS=3 is its full size.
    private static readonly int Applies = Setting("ESB_RELOAD_APPLIES", FewApplies);
    private static readonly int ApplyRate = Setting("ESB_RELOAD_RATE", 50); // the endpoint that is stopped works off what came meanwhile
    private static readonly int ApplyHosts = Setting("ESB_RELOAD_HOSTS", 2);

    private static readonly string[] ParkedLines = ["k1", "k2"];

    [Test, Category("Waits"), Category("FaultsSmoke"), CancelAfter(180_000)]
    public async Task Smoke(CancellationToken cancellationToken)
    {
        await using var bench = await FaultBench.StartAsync(
            new BenchPlan
            {
                Case = "T-CFG-1",
                Sinks = (database, _) => ChangedAsync(database),
                Configure = Configure,
            },
            cancellationToken
        );
        await RunAsync(
            bench,
            new LoadPlan
            {
                Messages = 3_000,
                Keys = 50,
                Rate = 150,
                LargestBody = 1_024,
            },
            reloads: 20,
            Wrong,
            FaultBench.NewNemesis(),
            cancellationToken
        );
        var verdicts = await bench.SettleAsync(cancellationToken);

        bench.Conclude(verdicts, $"{bench.Ledger.Acknowledged:N0}, 20 reloads");
    }

    [Test, Category("Alone"), Category("Faults"), CancelAfter(900_000)]
    public async Task Nothing_else_notices_200_reloads(CancellationToken cancellationToken)
    {
        const int Reloaded = 200;
        await using var bench = await StartAsync(cancellationToken);
        var usual = new LoadPlan
        {
            Messages = 6_000,
            Keys = 50,
            Rate = 100,
            LargestBody = 1_024,
        };
        using (var load = bench.Load(usual with { KeyPrefix = "u" }))
            await load.RunAsync(cancellationToken); // warm, and to compare with
        var begun = TimeProvider.System.GetUtcNow();

        var reloads = await RunAsync(bench, usual with { Messages = 10_000 }, Reloaded, Wrong, FaultBench.NewNemesis(), cancellationToken);
        var verdicts = await SettleAsync(bench, cancellationToken);

        var single = bench.Sinks.Single(sink => sink.Endpoint == "single");
        var without = await SlownessAsync(bench, single, message => message.Key.StartsWith('u'), cancellationToken);
        var with = await SlownessAsync(bench, single, message => message.SentAt >= begun, cancellationToken);
        var pauses = new List<TimeSpan>();
        foreach (var sink in bench.Sinks.Where(sink => sink.Endpoint is "loose" or "keyed" or "ordered"))
            pauses.Add(await PauseAsync(sink, begun, cancellationToken));
        var counted = await CountAsync(bench, cancellationToken);
        bench.Conclude(
            verdicts,
            $"{bench.Ledger.Acknowledged:N0}, 50 keys, {usual.Rate}/s, 2 hosts, {reloads.Done} reloads and {reloads.Refused} refused",
            string.Create(
                CultureInfo.InvariantCulture,
                $"p99 of an endpoint that stays {without.TotalMilliseconds:0} ms without and {with.TotalMilliseconds:0} ms with "
                    + $"reloads; longest pauses of changed ones {string.Join(", ", pauses.Select(pause => $"{pause.TotalSeconds:0.0}"))} s"
            )
        );
        Assert.Multiple(() =>
        {
            Assert.That(
                (reloads.Done, reloads.Refused, reloads.Elsewhere),
                Is.EqualTo((Reloaded - (Reloaded / Wrong), Reloaded / Wrong, 0))
            );
            Assert.That(counted, Is.EqualTo(bench.Ledger.Acknowledged), "an endpoint that stays goes on counting");
            Assert.That(pauses, Has.All.LessThan(TimeSpan.FromSeconds(PausedAtMost)));
            Assert.That(with - without, Is.LessThan(TimeSpan.FromMilliseconds(SlowerAtMost)));
        });
    }

    [Test, Category("Waits"), Category("Faults"), CancelAfter(900_000)]
    public async Task Nothing_is_lost_while_hosts_die_and_stop(CancellationToken cancellationToken)
    {
        const int Reloaded = 60;
        await using var bench = await StartAsync(cancellationToken);
        var nemesis = FaultBench.NewNemesis();
        foreach (var host in bench.Farm.Hosts)
            nemesis = nemesis.Track(2, 10, (HostFaults.Kill(host), 4), (HostFaults.Stop(host), 2));

        var reloads = await RunAsync(
            bench,
            new LoadPlan
            {
                Messages = 10_000,
                Keys = 50,
                Rate = 100,
                LargestBody = 1_024,
            },
            Reloaded,
            wrong: 0,
            nemesis,
            cancellationToken
        );
        var verdicts = await SettleAsync(bench, cancellationToken);

        bench.Conclude(
            verdicts,
            $"{bench.Ledger.Acknowledged:N0}, 50 keys, 100/s, 2 hosts, kill -9 host × 8, SIGTERM × 4",
            $"{reloads.Done} reloads made, {reloads.Elsewhere} not possible just then"
        );
        Assert.That(reloads.Done, Is.GreaterThan(Reloaded / 4), "the others met a host that was dead or had just come");
    }

    [Test, Category("Waits"), Category("Faults"), CancelAfter(36_000_000)]
    public async Task Nothing_is_lost_while_versions_are_applied_and_rolled_back_and_hosts_die(CancellationToken cancellationToken)
    {
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        limit.CancelAfter(TimeSpan.FromMinutes(15) * Math.Max(1.0, (double)Applies / FewApplies));
        cancellationToken = limit.Token;
        await using var bench = await StartAsync(cancellationToken, isStored: true, ApplyHosts);
        var nemesis = FaultBench.NewNemesis();
        foreach (var host in bench.Farm.Hosts)
            nemesis = nemesis.Track(2, 10, (HostFaults.Kill(host), 4), (HostFaults.Stop(host), 2));

        var applies = await RunAsync(
            bench,
            new LoadPlan
            {
                Messages = 100 * ApplyRate,
                Keys = 50,
                Rate = ApplyRate,
                LargestBody = 1_024,
            },
            Applies,
            wrong: 0,
            nemesis,
            cancellationToken,
            applies: true
        );
        var verdicts = await SettleAsync(bench, cancellationToken, isLarge: Applies > FewApplies);
        var revisions = new HashSet<string?>();
        foreach (var host in bench.Farm.Hosts)
            revisions.Add((await host.Process.AskAsync("/api/configuration", cancellationToken)).GetProperty("revision").GetString());

        bench.Conclude(
            verdicts,
            $"{bench.Ledger.Acknowledged:N0}, 50 keys, {ApplyRate}/s, {ApplyHosts} hosts, "
                + $"kill -9 host × {4 * ApplyHosts}, SIGTERM × {2 * ApplyHosts}",
            $"{applies.Done} applies and rollbacks made, {applies.Elsewhere} not possible just then"
        );
        Assert.That(applies.Done, Is.GreaterThan(Applies / 4), "the others met a host that was dead or had just come");
        Assert.That(revisions, Has.Count.EqualTo(1), "all hosts run one revision");
    }

    private static int Setting(string name, int usual) =>
        int.TryParse(Environment.GetEnvironmentVariable(name), CultureInfo.InvariantCulture, out var value) && value > 0 ? value : usual;

    private static async Task<Reloads> RunAsync(
        FaultBench bench,
        LoadPlan plan,
        int reloads,
        int wrong,
        Nemesis nemesis,
        CancellationToken cancellationToken,
        bool applies = false
    )
    {
        using var reloading = new Reloads(bench, Change, wrong, applies);
        using var load = bench.Load(plan);
        await bench.RunAsync(
            faults => load.RunAsync(cancellationToken, until: faults),
            token => Task.WhenAll(nemesis.RunAsync(token), reloading.RunAsync(reloads, token)),
            cancellationToken
        );
        return reloading;
    }

    private static async Task<IReadOnlyList<ISink>> ChangedAsync(NpgsqlDataSource database) =>
        [
            await SqlSink.CreateAsync("ordered", database, SinkPromises.Ordered | SinkPromises.Once, BenchConfiguration.Ordered()),
            await SqlSink.CreateAsync("keyed", database, SinkPromises.Ordered | SinkPromises.Once, BenchConfiguration.OrderedByKey()),
            await SqlSink.CreateAsync("loose", database, SinkPromises.Once, BenchConfiguration.Parallel()),
        ];

    // Those that stay: of one instance, paused, stopped by a message, with keys that are parked, and with dead letters.
    private static async Task<IReadOnlyList<ISink>> AllAsync(NpgsqlDataSource database)
    {
        var single = BenchConfiguration.Parallel();
        single["singleInstance"] = true;
        var stopped = BenchConfiguration.Ordered();
        stopped["retry"] = new JsonObject { ["immediate"] = 0 };
        var parked = BenchConfiguration.OrderedByKey();
        var letters = BenchConfiguration.Parallel();
        letters["retry"] = new JsonObject { ["immediate"] = 0 };
        return
        [
            .. await ChangedAsync(database),
            await SqlSink.CreateAsync("single", database, SinkPromises.Once, single),
            await SqlSink.CreateAsync("held", database, SinkPromises.Once, BenchConfiguration.Parallel()),
            await SqlSink.CreateAsync("stopped", database, SinkPromises.Ordered | SinkPromises.Once, stopped),
            await SqlSink.CreateAsync("parked", database, SinkPromises.Ordered | SinkPromises.Once, parked),
            await SqlSink.CreateAsync("letters", database, SinkPromises.Once, letters),
        ];
    }

    private static void ConfigureStored(JsonObject configuration)
    {
        Configure(configuration);
        configuration["management"] = new JsonObject { ["configuration"] = "store" };
    }

    private static void Configure(JsonObject configuration)
    {
        configuration["processes"] = new JsonObject
        {
            ["in"] = new JsonArray(
                new JsonObject { ["set"] = new JsonObject { ["headers"] = new JsonObject { ["x-round"] = "0" } } },
                new JsonObject { ["publish"] = "work.item" }
            ),
        };
        configuration["parties"] = new JsonObject
        {
            ["shop"] = new JsonObject { ["apiKeys"] = new JsonArray(KeyOf(0)), ["publish"] = new JsonArray("work.item") },
        };
        var intake = configuration["endpoints"]!["intake"]!.AsObject();
        intake.Remove("publish");
        intake["process"] = "in";
    }

    // A farm in which each kind of endpoint is in its state.
    private static async Task<FaultBench> StartAsync(CancellationToken cancellationToken, bool isStored = false, int hosts = 2)
    {
        var bench = await FaultBench.StartAsync(
            new BenchPlan
            {
                Case = "T-CFG-1",
                Hosts = hosts,
                Sinks = (database, _) => AllAsync(database),
                Configure = isStored ? ConfigureStored : Configure,
            },
            cancellationToken
        );
        await EsbAsync(bench, cancellationToken, "endpoints", "pause", "held");
        await QueryAsync(bench, "alter table letters add constraint closed check (id = '') not valid", cancellationToken);
        using (
            var load = bench.Load(
                new LoadPlan
                {
                    Messages = 2_000,
                    Keys = 20,
                    KeyPrefix = "l",
                    Rate = 300,
                    LargestBody = 1_024,
                }
            )
        )
            await load.RunAsync(cancellationToken);
        while ((await bench.Records.ReadKeptAsync("letters", cancellationToken)).Count < bench.Ledger.Acknowledged)
            await Task.Delay(200, cancellationToken);
        await QueryAsync(bench, "alter table letters drop constraint closed", cancellationToken);
        await QueryAsync(bench, "alter table stopped add constraint closed check (id = '') not valid", cancellationToken);
        await QueryAsync(
            bench,
            "alter table parked add constraint closed check (split_part(id, '-', 1) not in ('k1', 'k2')) not valid",
            cancellationToken
        );
        await EsbAsync(bench, cancellationToken, "dead-letters", "replay", "--endpoint", "letters", "--reason", "mended", "--rate", "10");
        return bench;
    }

    // What stood still goes on.
    private static async Task<IReadOnlyList<Verdict>> SettleAsync(
        FaultBench bench,
        CancellationToken cancellationToken,
        bool isLarge = false
    )
    {
        await QueryAsync(bench, "alter table stopped drop constraint closed", cancellationToken);
        await QueryAsync(bench, "alter table parked drop constraint closed", cancellationToken);
        foreach (var line in ParkedLines)
            await EsbAsync(bench, cancellationToken, "parked", "release", "parked", line, "--reason", "mended");
        await EsbAsync(bench, cancellationToken, "endpoints", "resume", "held");
        await EsbAsync(bench, cancellationToken, "parked", "release", "stopped", "*", "--reason", "mended");
        if (isLarge)
            await bench.WaitForEmptyQueuesAsync(cancellationToken); // what came for it meanwhile takes longer than stuck messages are given
        return await bench.SettleAsync(
            cancellationToken,
            evidence =>
                evidence.Endpoint == "letters"
                    ? evidence with
                    {
                        Kept = new HashSet<Guid>(),
                        TerminalStates = null,
                    }
                    : evidence with
                    {
                        Kept = new HashSet<Guid>(),
                    }
        );
    }

    // One thing at a time.
    private static void Change(JsonObject configuration, int round)
    {
        var endpoints = configuration["endpoints"]!;
        switch (round % 7)
        {
            case 0:
                endpoints["loose"]!["retry"]!["immediate"] = 1 + (round % 5);
                break;
            case 1:
                endpoints["keyed"]!["timeout"] = $"{30 + round}s";
                break;
            case 2:
                endpoints["ordered"]!["subscribe"] = new JsonArray("work.item", $"work.round{round}");
                break;
            case 3:
                configuration["processes"]!["in"]![0]!["set"]!["headers"]!["x-round"] = $"{round}";
                break;
            case 4:
                configuration["parties"]!["shop"]!["apiKeys"] = new JsonArray(KeyOf(round));
                break;
            case 5:
                configuration["parties"]!["shop"]!["publish"] = new JsonArray("work.item", $"work.round{round}");
                break;
            default:
                endpoints["intake"]!["timeout"] = $"{40 + round}s";
                break;
        }
    }

    // Secrets stand in variables, of which a host has two.
    private static string KeyOf(int round) =>
        $"${{env:{(round % 2 == 0 ? BenchConfiguration.BrokerVariable : BenchConfiguration.StoreVariable)}}}";

    private static async Task<TimeSpan> SlownessAsync(
        FaultBench bench,
        ISink sink,
        Func<SentMessage, bool> isCounted,
        CancellationToken cancellationToken
    )
    {
        var accepted = bench
            .Ledger.Messages.Where(message => message.OutcomeAt is not null && isCounted(message))
            .ToDictionary(message => message.Id, message => message.OutcomeAt!.Value);
        var waits = (await sink.ReadAsync(cancellationToken))
            .Where(entry => accepted.ContainsKey(entry.Id))
            .Select(entry => entry.At - accepted[entry.Id])
            .Order()
            .ToList();
        return waits[(int)(waits.Count * 0.99)];
    }

    // Messages come all the time.
    private static async Task<TimeSpan> PauseAsync(ISink sink, DateTimeOffset from, CancellationToken cancellationToken)
    {
        var times = (await sink.ReadAsync(cancellationToken)).Select(entry => entry.At).Where(at => at >= from).Order().ToList();
        return times.Zip(times.Skip(1), (one, next) => next - one).Max();
    }

    private static async Task<long> CountAsync(FaultBench bench, CancellationToken cancellationToken)
    {
        var count = 0L;
        foreach (var host in bench.Farm.Hosts)
            count += (await host.Process.AskAsync("/api/endpoints/single", cancellationToken)).GetProperty("messages").GetInt64();
        return count;
    }

    private static Task QueryAsync(FaultBench bench, string sql, CancellationToken cancellationToken) =>
        bench.Database.QueryAsync<int>(sql, null, cancellationToken);

    private static async Task EsbAsync(FaultBench bench, CancellationToken cancellationToken, params string[] arguments)
    {
        var host = bench.Farm.Hosts[0];
        var (exitCode, _, error) = await CommandLine.RunAsync(
            host.Folder,
            cancellationToken,
            [.. arguments, "--url", host.Process.Management.OriginalString]
        );
        Assert.That(exitCode, Is.Zero, error);
    }
}
