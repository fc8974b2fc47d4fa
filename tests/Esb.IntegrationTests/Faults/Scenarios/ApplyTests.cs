using System.Globalization;
using Esb.IntegrationTests.EndToEnd.Hosts;
using Esb.IntegrationTests.Faults.Benches;
using Esb.IntegrationTests.Faults.Checking;
using Esb.IntegrationTests.Faults.Ledgers;
using Esb.IntegrationTests.Faults.Load;
using Esb.IntegrationTests.Faults.Nemeses;
using Esb.IntegrationTests.Faults.Results;
using Esb.IntegrationTests.Faults.Sinks;

namespace Esb.IntegrationTests.Faults.Scenarios;

/// <summary>Versions of the configuration are applied and taken back while messages come and hosts are killed.</summary>
/// <remarks>Each version marks what it takes in and what it delivers at one endpoint, so that a mix of two would be seen.</remarks>
[NonParallelizable, Property("Case", "T-CFG-1"), Property("Case", "T-CFG-2")]
public sealed class ApplyTests
{
    private const int FewApplies = 30;
    private const int MostMixed = 50; // messages a second for all endpoints: one of them is stopped, and works off later what came for it
    private const int MostStopped = 10_000;

    private static readonly TimeSpan Hanging = TimeSpan.FromSeconds(30);

    // ESB_RELOAD_APPLIES=800 ESB_RELOAD_RATE=2000 ESB_RELOAD_HOSTS=3 is the full size: with what is taken back, 1,000 exchanges.
    private static readonly int Versions = Setting("ESB_RELOAD_APPLIES", FewApplies);
    private static readonly int Rate = Setting("ESB_RELOAD_RATE", 50);
    private static readonly int Hosts = Setting("ESB_RELOAD_HOSTS", 2);
    private static readonly TimeSpan Longest = TimeSpan.FromMinutes(Setting("ESB_RELOAD_MINUTES", 600)); // of the applies
    private static readonly int Baseline = Setting("ESB_RELOAD_BASELINE", 20); // seconds

    [Test, Category("Waits"), Category("Faults"), CancelAfter(36_000_000)]
    public async Task Nothing_is_lost_while_versions_are_applied_and_rolled_back_and_hosts_die(CancellationToken cancellationToken)
    {
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        limit.CancelAfter(TimeSpan.FromMinutes(15) * Math.Max(1.0, (double)Versions / FewApplies));
        cancellationToken = limit.Token;
        await using var bench = await ReloadFarm.StartAsync(cancellationToken, isStored: true, Hosts);
        var begun = TimeProvider.System.GetUtcNow();
        await LoadAsync(bench, "u", Task.Delay(TimeSpan.FromSeconds(Baseline), cancellationToken), cancellationToken);
        var changed = TimeProvider.System.GetUtcNow();

        using var applies = new Applies(
            bench,
            (configuration, round) =>
            {
                ReloadFarm.Change(configuration, round);
                ReloadFarm.Mark(configuration, Applies.MarkOf(round));
            }
        );
        await bench.RunAsync(
            strikes => LoadAsync(bench, "k", strikes, cancellationToken),
            token => applies.RunAsync(Versions, Longest, token),
            cancellationToken
        );
        var ended = TimeProvider.System.GetUtcNow();
        var verdicts = await ReloadFarm.SettleAsync(bench, cancellationToken, isLarge: Versions > FewApplies);
        var settled = TimeProvider.System.GetUtcNow();
        var revisions = new HashSet<string?>();
        foreach (var host in bench.Farm.Hosts)
            revisions.Add((await host.Process.AskAsync("/api/configuration", cancellationToken)).GetProperty("revision").GetString());

        var sent = bench.Ledger.Messages.Where(message => message.SentAt >= begun).ToDictionary(message => message.Id);
        var takenIn = await TakenInAsync(bench, sent, cancellationToken);
        var delivered = await DeliveredAsync(bench, changed, cancellationToken);
        var (intake, delivery) = (RevisionMix.Of("0", applies.Exchanges, takenIn), RevisionMix.Of("0", applies.Exchanges, delivered));
        var slowness = new List<(string Endpoint, TimeSpan Without, TimeSpan With, TimeSpan Struck)>();
        foreach (var sink in bench.Sinks.Where(sink => sink.Endpoint is "single" or "many"))
            slowness.Add(await SlownessAsync(sink, sent, changed, applies, cancellationToken));
        var rate = sent.Values.Count(message => message.SentAt >= changed && message.Outcome == SendOutcome.Confirmed);
        bench.Conclude(
            verdicts,
            $"{bench.Ledger.Acknowledged:N0}, 50 keys, {Rate}/s, {Hosts} hosts, "
                + $"kill -9 host × {applies.Killed} at as many points of an exchange, SIGTERM × {applies.Stopped}",
            string.Join(
                "; ",
                [
                    Described(applies, changed, ended, settled, rate),
                    Described("taken in", intake),
                    Described("delivered", delivery),
                    .. slowness.Select(Described),
                ]
            )
        );
        Assert.Multiple(() =>
        {
            Assert.That(applies.Done, Is.GreaterThan(applies.Exchanges.Count / 4), "the others met a host that was dead or had just come");
            Assert.That(revisions, Has.Count.EqualTo(1), "all hosts run one revision");
            Assert.That(takenIn, Is.Not.Empty);
            Assert.That(
                intake.Strays.Take(5).Select(stray => $"{stray.Message}, {stray.Late.TotalSeconds:0.000} s late"),
                Is.Empty,
                "after an exchange no message is taken in by another revision"
            );
            Assert.That(
                delivery.Strays.Where(stray => stray.Late > Hanging).Take(5),
                Is.Empty,
                "a delivery that began before an exchange ends soon after it"
            );
            Assert.That(intake.Mixes, Has.All.LessThan(Hanging));
            foreach (var (endpoint, without, with, _) in slowness)
                Assert.That(with, Is.LessThan(without + Hanging), endpoint);
        });
    }

    private static int Setting(string name, int usual) =>
        int.TryParse(Environment.GetEnvironmentVariable(name), CultureInfo.InvariantCulture, out var value) && value > 0 ? value : usual;

    // To all endpoints, and what is left of the rate to one that works on many at once.
    private static async Task LoadAsync(FaultBench bench, string prefix, Task until, CancellationToken cancellationToken)
    {
        var mixed = Math.Min(Rate, Math.Clamp((int)(MostStopped / Math.Min(3.0 * Versions, Longest.TotalSeconds)), 5, MostMixed));
        var plan = new LoadPlan
        {
            Messages = 1,
            Keys = 50,
            KeyPrefix = prefix,
            Rate = mixed,
            LargestBody = 1_024,
        };
        using var load = bench.Load(plan);
        using var most = bench.Load(
            plan with
            {
                Keys = 64,
                KeyPrefix = $"m{prefix}",
                Rate = Math.Max(1, Rate - mixed),
                Senders = 64,
                Subject = ReloadFarm.ManySubject,
                PathOf = _ => ReloadFarm.ManyPath,
            }
        );
        await Task.WhenAll(load.RunAsync(cancellationToken, until), most.RunAsync(cancellationToken, until));
    }

    // A message was handled between its sending and its answer.
    private static async Task<List<HandledMessage>> TakenInAsync(
        FaultBench bench,
        Dictionary<string, SentMessage> sent,
        CancellationToken cancellationToken
    )
    {
        var handled = new List<HandledMessage>();
        foreach (var sink in bench.Sinks.OfType<SqlSink>().Where(sink => sink.Endpoint is "loose" or "many"))
        {
            foreach (var (id, mark, _, _) in await sink.ReadMarksAsync(cancellationToken))
            {
                if (sent.GetValueOrDefault(id) is { OutcomeAt: { } answered } message)
                    handled.Add(new HandledMessage(id, mark, message.SentAt, answered));
            }
        }

        return handled;
    }

    private static async Task<List<HandledMessage>> DeliveredAsync(
        FaultBench bench,
        DateTimeOffset from,
        CancellationToken cancellationToken
    )
    {
        var loose = bench.Sinks.OfType<SqlSink>().Single(sink => sink.Endpoint == "loose");
        return
        [
            .. (await loose.ReadMarksAsync(cancellationToken))
                .Where(row => row.At >= from.UtcDateTime)
                .Select(row => new HandledMessage(row.Id, row.Own, row.At, row.At)),
        ];
    }

    // From the answer to the arrival: before the versions, with them, and while a host was away or had just come back.
    private static async Task<(string, TimeSpan, TimeSpan, TimeSpan)> SlownessAsync(
        ISink sink,
        Dictionary<string, SentMessage> sent,
        DateTimeOffset changed,
        Applies applies,
        CancellationToken cancellationToken
    )
    {
        var (without, with, struck) = (new List<TimeSpan>(), new List<TimeSpan>(), new List<TimeSpan>());
        foreach (var entry in await sink.ReadAsync(cancellationToken))
        {
            if (sent.GetValueOrDefault(entry.Id) is not { Outcome: SendOutcome.Confirmed, OutcomeAt: { } answered } message)
                continue;
            var group =
                message.SentAt < changed ? without
                : applies.Disturbances.Any(away => away.From <= entry.At && message.SentAt <= away.To) ? struck
                : with;
            group.Add(entry.At - answered);
        }

        return (sink.Endpoint, Percentile(without), Percentile(with), Percentile(struck));
    }

    private static TimeSpan Percentile(List<TimeSpan> waits)
    {
        waits.Sort();
        return waits.Count == 0 ? TimeSpan.Zero : waits[(int)(waits.Count * 0.99)];
    }

    private static string Described((string Endpoint, TimeSpan Without, TimeSpan With, TimeSpan Struck) found) =>
        string.Create(
            CultureInfo.InvariantCulture,
            $"p99 of {found.Endpoint} {found.Without.TotalMilliseconds:0} ms without and {found.With.TotalMilliseconds:0} ms with versions "
                + $"({found.Struck.TotalMilliseconds:0} ms while a host was away)"
        );

    private static string Described(Applies applies, DateTimeOffset changed, DateTimeOffset ended, DateTimeOffset settled, int accepted) =>
        string.Create(
            CultureInfo.InvariantCulture,
            $"{applies.Done} applies and rollbacks made in {(ended - changed).TotalSeconds:0} s (median {Medians.Of(applies.Quiet).TotalSeconds:0.00} s), {applies.Elsewhere} not possible just then; {accepted / (ended - changed).TotalSeconds:0}/s accepted, waiting ones worked off in {(settled - ended).TotalSeconds:0} s"
        );

    private static string Described(string what, RevisionMix mix)
    {
        var (median, most) = mix.Mixes.Count == 0 ? default : (Medians.Of(mix.Mixes), mix.Mixes.Max());
        var late = mix.Strays.Count == 0 ? "" : $" (the last {mix.Strays.Max(stray => stray.Late).TotalMilliseconds:0} ms late)";
        return string.Create(
            CultureInfo.InvariantCulture,
            $"{what} by two revisions for {median.TotalMilliseconds:0} ms, at most {most.TotalMilliseconds:0} ms, by an earlier one after the exchange {mix.Strays.Count}{late}"
        );
    }
}
