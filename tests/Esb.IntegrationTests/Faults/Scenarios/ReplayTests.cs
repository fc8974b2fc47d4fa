using Esb.IntegrationTests.EndToEnd;
using Esb.IntegrationTests.EndToEnd.Hosts;
using Esb.IntegrationTests.Faults.Benches;
using Esb.IntegrationTests.Faults.Checking;
using Esb.IntegrationTests.Faults.Load;
using Esb.IntegrationTests.Faults.Nemeses;
using Esb.IntegrationTests.Faults.Sinks;

namespace Esb.IntegrationTests.Faults.Scenarios;

/// <summary>Dead letters are sent again while their hosts die, after they were applied, and in pieces: each one arrives or is still kept,
/// and none has its effect twice.</summary>
[NonParallelizable, Category("Paced")]
public sealed class ReplayTests
{
    [Test, Category("Faults"), CancelAfter(400_000), Property("Case", "T-RPL-1")]
    public async Task Replay_whose_hosts_are_killed_goes_on_and_loses_nothing(CancellationToken cancellationToken)
    {
        const int Rate = 100;
        await using var bench = await StartAsync("T-RPL-1", SinkPromises.Once, 5_000, cancellationToken);

        await ReplayAsync(bench, cancellationToken, "--rate", $"{Rate}");
        var nemesis = FaultBench.NewNemesis().Track(1, 12, [.. bench.Farm.Hosts.Select(each => (HostFaults.Kill(each), 3))]);
        await nemesis.RunAsync(cancellationToken);
        await bench.Farm.WaitForReadyAsync(cancellationToken);
        var verdicts = await SettleAsync(bench, 0, cancellationToken);

        var open = (await bench.Records.ReadKeptAsync("effects", cancellationToken)).Count;
        bench.Conclude(verdicts, $"{bench.Ledger.Acknowledged:N0} dead letters, {Rate}/s; kill -9 host × 6", $"{open} letters still open");
        Assert.That(open, Is.Zero);
    }

    [Test, Category("Faults"), CancelAfter(400_000), Property("Case", "T-RPL-2")]
    public async Task Replay_of_what_was_applied_already_has_no_effect_and_a_flag_each(CancellationToken cancellationToken)
    {
        await using var bench = await StartAsync("T-RPL-2", SinkPromises.Once | SinkPromises.Flagged, 2_000, cancellationToken);
        var letters = bench.Ledger.Acknowledged;
        await ReplayAsync(bench, cancellationToken);
        await SettleAsync(bench, 0, cancellationToken);

        await ReplayAsync(bench, cancellationToken, "--state", "replayed");
        var verdicts = await SettleAsync(bench, letters, cancellationToken);

        bench.Conclude(verdicts, $"{letters:N0} dead letters, replayed twice");
        Assert.That((verdicts[0].Delivered, verdicts[0].Flagged), Is.EqualTo((letters, letters)));
    }

    [Test, Category("Faults"), CancelAfter(400_000), Property("Case", "T-RPL-3")]
    public async Task Replay_that_is_paused_restarted_and_cancelled_goes_on_where_it_stood(CancellationToken cancellationToken)
    {
        await using var bench = await StartAsync("T-RPL-3", SinkPromises.Once, 2_000, cancellationToken);
        var letters = bench.Ledger.Acknowledged;

        await ReplayAsync(bench, cancellationToken, "--rate", "200");
        await WaitForAsync(bench, job => job.Replayed >= 500, cancellationToken);
        await ChangeAsync(bench, "pause", cancellationToken);
        var paused = await WaitForAsync(bench, job => job.Owner is null, cancellationToken);
        foreach (var host in bench.Farm.Hosts)
            await host.KillAsync();
        await bench.Farm.StartAsync(cancellationToken);
        var restarted = await WaitForAsync(bench, _ => true, cancellationToken);
        await ChangeAsync(bench, "resume", cancellationToken);
        await WaitForAsync(bench, job => job.Replayed >= 1_000, cancellationToken);
        await ChangeAsync(bench, "cancel", cancellationToken);
        var cancelled = await WaitForAsync(bench, job => job.Owner is null, cancellationToken);
        await ReplayAsync(bench, cancellationToken);
        var verdicts = await SettleAsync(bench, 0, cancellationToken);

        var rest = await WaitForAsync(bench, job => job.State == "Completed", cancellationToken);
        bench.Conclude(
            verdicts,
            $"{letters:N0} dead letters, 200/s; paused, kill -9 of both hosts, resumed, cancelled, the rest in a second job",
            $"paused at {paused.Replayed}, cancelled at {cancelled.Replayed}, then {rest.Replayed}"
        );
        Assert.That(
            (restarted.State, restarted.Replayed, cancelled.Replayed + rest.Total),
            Is.EqualTo(("Paused", paused.Replayed, letters))
        );
        Assert.That(
            verdicts[0].Flagged,
            Is.LessThanOrEqualTo(50),
            "those under way when the job was cancelled: it gives them back before it knows that they were sent"
        );
    }

    /// <summary>A farm that has given up every message, at an endpoint that is mended now.</summary>
    private static async Task<FaultBench> StartAsync(string name, SinkPromises promises, int letters, CancellationToken cancellationToken)
    {
        var bench = await FaultBench.StartAsync(
            new BenchPlan
            {
                Case = name,
                Sinks = async (database, _) => [await SqlSink.CreateAsync("effects", database, promises, BenchConfiguration.Parallel())],
            },
            cancellationToken
        );
        await bench.Database.QueryAsync<int>(
            "alter table effects add constraint closed check (id = '') not valid",
            null,
            cancellationToken
        );
        using (
            var load = bench.Load(
                new LoadPlan
                {
                    Messages = letters,
                    Rate = 500,
                    LargestBody = 2_048,
                }
            )
        )
            await load.RunAsync(cancellationToken);
        while ((await bench.Records.ReadKeptAsync("effects", cancellationToken)).Count < bench.Ledger.Acknowledged)
            await Task.Delay(200, cancellationToken);
        await bench.Database.QueryAsync<int>("alter table effects drop constraint closed", null, cancellationToken);
        return bench;
    }

    // A letter that was replayed has two terminal states, and one that is kept was not sent.
    private static Task<IReadOnlyList<Verdict>> SettleAsync(FaultBench bench, int forced, CancellationToken cancellationToken) =>
        bench.SettleAsync(
            cancellationToken,
            evidence => evidence with { Kept = new HashSet<Guid>(), TerminalStates = null, ForcedDuplicates = forced }
        );

    private static Task ReplayAsync(FaultBench bench, CancellationToken cancellationToken, params string[] options) =>
        RunAsync(bench, cancellationToken, ["dead-letters", "replay", "--endpoint", "effects", "--reason", "mended", .. options]);

    private static async Task ChangeAsync(FaultBench bench, string verb, CancellationToken cancellationToken) =>
        await RunAsync(bench, cancellationToken, "replays", verb, $"{(await ReadAsync(bench, cancellationToken)).Id}");

    private static async Task RunAsync(FaultBench bench, CancellationToken cancellationToken, params string[] arguments)
    {
        var host = bench.Farm.Hosts[0];
        var (exitCode, _, error) = await CommandLine.RunAsync(
            host.Folder,
            cancellationToken,
            [.. arguments, "--url", host.Process.Management.OriginalString]
        );
        Assert.That(exitCode, Is.Zero, error);
    }

    private static async Task<Job> WaitForAsync(FaultBench bench, Func<Job, bool> condition, CancellationToken cancellationToken)
    {
        while (true)
        {
            var job = await ReadAsync(bench, cancellationToken);
            if (condition(job))
                return job;
            await Task.Delay(50, cancellationToken);
        }
    }

    private static async Task<Job> ReadAsync(FaultBench bench, CancellationToken cancellationToken) =>
        (
            await bench.Database.QueryAsync<Job>(
                "select id, state, owner, total, replayed from esb.replay_job order by id desc limit 1",
                null,
                cancellationToken
            )
        )[0];

    private sealed record Job(Guid Id, string State, string? Owner, long Total, long Replayed);
}
