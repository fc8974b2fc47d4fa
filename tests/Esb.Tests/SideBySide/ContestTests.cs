using SideBySide.Measuring;
using SideBySide.Reports;

namespace Esb.Tests.SideBySide;

public sealed class ContestTests
{
    private static readonly Sample WarmUp = new(1);
    private static readonly Method Method = new(2, TimeSpan.FromSeconds(5), TimeSpan.FromSeconds(20));

    [Test]
    public async Task A_row_has_the_median_of_the_rounds_and_not_the_warm_up()
    {
        var ours = new FakeTarget("relay", WarmUp, new Sample(50, 20, 4_000), new Sample(100, 30, 5_000));
        var limit = new FakeTarget("nginx", WarmUp, new Sample(100, 10), new Sample(100, 10));

        var row = (await Run(new Row("S1", "1K", ours, [limit], Goal.Ratio(0.75)))).Single();

        Assert.Multiple(() =>
        {
            Assert.That((row.OurRate, row.PeerRate, row.Value!.Median, row.Met), Is.EqualTo((75.0, 100.0, 0.75, true)));
            Assert.That((row.CpuMicroseconds, row.AllocatedBytes, row.PeerCpuMicroseconds), Is.EqualTo((25.0, 4_500.0, 10.0)));
        });
    }

    [Test]
    public async Task A_rate_is_judged_by_itself_with_the_peer_beside_it()
    {
        var met = (await Run(new Row("S9", "basic", Ours(), [Limit()], Goal.Rate(1_400)))).Single();
        var missed = (await Run(new Row("S9", "basic", Ours(), [Limit()], Goal.Rate(1_401)))).Single();

        Assert.That((met.Value!.Median, met.PeerRate, met.Met, missed.Met), Is.EqualTo((1_400.0, 9_000.0, true, false)));
        Assert.That(Figures.Value(met), Is.EqualTo("1,400/s (1,300 to 1,500)"));

        static FakeTarget Ours() => new("workflow", WarmUp, new Sample(1_300), new Sample(1_500));
        static FakeTarget Limit() => new("pgbench", WarmUp, new Sample(9_000), new Sample(9_000));
    }

    [Test]
    public async Task Of_two_limits_the_slower_one_counts()
    {
        var ours = new FakeTarget("inserts", WarmUp, new Sample(90), new Sample(90));
        var broker = new FakeTarget("PerfTest", WarmUp, new Sample(100), new Sample(100));
        var database = new FakeTarget("pgbench", WarmUp, new Sample(300), new Sample(300));

        var row = (await Run(new Row("S6", "", ours, [database, broker], Goal.Ratio(0.85)))).Single();

        Assert.That((row.Peer, row.Value!.Median), Is.EqualTo(("PerfTest", 0.9)));
    }

    [Test]
    public async Task A_side_that_stands_in_two_rows_is_measured_once()
    {
        var ours = new FakeTarget("relay", WarmUp, new Sample(80), new Sample(80));
        var nginx = new FakeTarget("nginx", WarmUp, new Sample(100), new Sample(100));
        var camel = new FakeTarget("Camel", WarmUp, new Sample(20), new Sample(20));

        var rows = await Run(new Row("S1", "", ours, [nginx], Goal.Ratio(0.75)), new Row("S1", "", ours, [camel], Goal.Ratio(2)));

        Assert.That(rows.Select(row => row.Value!.Median), Is.EqualTo([0.8, 4.0]));
    }

    [Test]
    public async Task One_wrong_answer_takes_the_figures_of_the_row()
    {
        var ours = new FakeTarget("relay", WarmUp, new Sample(80), Sample.Wrong("1 of 9 answers were wrong"));
        var limit = new FakeTarget("nginx", WarmUp, new Sample(100), new Sample(100));

        var row = (await Run(new Row("S1", "", ours, [limit], Goal.Ratio(0.75)))).Single();

        Assert.That(
            (row.OurRate, row.Met, row.Flaw),
            Is.EqualTo((default(double?), default(bool?), "failed: relay: 1 of 9 answers were wrong"))
        );
    }

    [Test]
    public async Task Without_its_peer_a_row_tells_our_rate_and_why_there_is_no_ratio()
    {
        var ours = new FakeTarget("relay", WarmUp, new Sample(80), new Sample(80));
        var missing = new FakeTarget("Camel") { Missing = "not found" };

        var row = (await Run(new Row("S1", "", ours, [missing], Goal.Ratio(2)))).Single();

        Assert.That((row.OurRate, row.Met, row.Flaw), Is.EqualTo((80.0, default(bool?), "not run: Camel: not found")));
    }

    [Test]
    public async Task A_goal_for_bytes_needs_no_peer()
    {
        var ours = new FakeTarget("relay", WarmUp, new Sample(80, 20, 7_000), new Sample(80, 20, 7_000));

        var row = (await Run(new Row("S2", "", ours, [], Goal.Allocates(6_144)))).Single();

        Assert.That((row.Goal, row.Met), Is.EqualTo(("≤ 6 KB allocated", false)));
    }

    [Test]
    public async Task Where_nothing_may_be_lost_a_side_without_a_flaw_is_enough()
    {
        var whole = new FakeTarget("four hosts", WarmUp, new Sample(80), new Sample(80));
        var lossy = new FakeTarget("three hosts", WarmUp, Sample.Wrong("1 of 9 orders did not arrive as they were sent"));

        var rows = await Run(new Row("S12", "", whole, [], Goal.NothingLost), new Row("S12", "", lossy, [], Goal.NothingLost));

        Assert.That(rows.Select(row => row.Met), Is.EqualTo((bool?[])[true, null]));
    }

    [Test]
    public async Task A_side_that_breaks_leaves_the_others()
    {
        var ours = new FakeTarget("relay", WarmUp, new Sample(80), new Sample(80));
        var broken = new FakeTarget("nginx", WarmUp); // has no sample for its first round

        var row = (await Run(new Row("S1", "", ours, [broken], Goal.Ratio(1)))).Single();

        Assert.That((row.OurRate, row.Flaw), Is.EqualTo((80.0, "not run: nginx: Index was outside the bounds of the array.")));
    }

    [Test]
    public async Task What_ran_warm_already_is_warmed_for_a_shorter_time()
    {
        var ours = new FakeTarget("relay", WarmUp, new Sample(80), new Sample(80));

        await new Contest("", [new Row("S1", "10K", ours, [], null)]).RunAsync(
            Method,
            new HashSet<string> { "relay" },
            _ => { },
            CancellationToken.None
        );

        Assert.That(
            ours.Durations,
            Is.EqualTo((double[])[2, 5, 5]).Using<TimeSpan, double>((span, seconds) => span.TotalSeconds == seconds)
        );
    }

    [Test]
    public void Both_warm_ups_are_told_in_the_whole_seconds_that_wrk_knows() =>
        Assert.That(
            Method.Full.Describe(),
            Is.EqualTo("5 rounds of 5 s, the sides by turns, after 15 s of warm-up under full load, 1 s for what ran warm already")
        );

    private static Task<IReadOnlyList<RowResult>> Run(params Row[] rows) =>
        new Contest("", rows).RunAsync(Method, new HashSet<string>(), _ => { }, CancellationToken.None);
}
