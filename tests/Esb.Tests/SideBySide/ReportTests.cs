using SideBySide.Measuring;
using SideBySide.Reports;

namespace Esb.Tests.SideBySide;

public sealed class ReportTests
{
    private static readonly RunFacts Facts = new("2026-01-02 03:04 UTC", "abc1234", "2 cores", "loadtests/compare S1", "5 rounds");

    private static readonly RowResult Met = new(
        "S1",
        "1K",
        "≥ 0.75 × nginx",
        0.75,
        "relay",
        41_234,
        "nginx",
        50_000,
        new Spread(0.824, 0.8, 0.85),
        true,
        20.44,
        4_096,
        10,
        null
    );

    [Test]
    public void A_section_says_goal_rates_ratio_with_spread_and_what_it_cost() =>
        Assert.That(
            ScenarioSection.Write(Result(Met)),
            Does.Contain(
                "| 1K | ≥ 0.75 × nginx | relay 41,234/s | nginx 50,000/s | 0.82 (0.80 to 0.85) | met |  | 20.4 µs | 4 KB | 10 µs |"
            )
        );

    [Test]
    public void A_section_says_how_it_was_measured() =>
        Assert.That(
            ScenarioSection.Write(Result(Met)),
            Does.Contain("- relay: no audit.")
                .And.Contains("2026-01-02 03:04 UTC, commit abc1234, `loadtests/compare S1`: 5 rounds; 2 cores.")
        );

    [Test]
    public void A_row_that_did_not_run_says_why() =>
        Assert.That(
            ScenarioSection.Write(Result(RowResult.NotRun("S1", "1K", "≥ 2 × Camel", "not run: a | b\nc"))),
            Does.Contain("| 1K | ≥ 2 × Camel |  |  |  | not run: a \\| b c |")
        );

    [Test]
    public void The_page_keeps_what_people_wrote_around_the_tables()
    {
        var once = PerformancePage.Replace("# Measured\n\nBefore.\n", "one");
        var again = PerformancePage.Replace(once + "\nAfter.\n", "two");

        Assert.That(again, Is.EqualTo($"# Measured\n\nBefore.\n\n{PerformancePage.Begin}\ntwo\n{PerformancePage.End}\n\nAfter.\n"));
    }

    [Test]
    public void A_new_result_takes_the_place_of_the_old_one_and_others_stay()
    {
        var merged = ResultFile.Merge(
            [Result(Met), Result(Met) with { Id = "S12" }],
            [Result(Met) with { Id = "S2" }, Result(Met with { Case = "10K" })]
        );

        Assert.That(merged.Select(result => (result.Id, result.Rows[0].Case)), Is.EqualTo([("S1", "10K"), ("S2", "1K"), ("S12", "1K")]));
    }

    [Test]
    public void A_section_shows_the_medians_of_the_two_runs_before()
    {
        IReadOnlyList<ScenarioResult> kept = [];
        foreach (var (date, median) in new[] { ("first", 0.5), ("second", 0.61), ("third", 0.72), ("fourth", 0.83) })
            kept = ResultFile.Merge(
                kept,
                [Result(Met with { Value = new Spread(median, 0, 1) }) with { Facts = Facts with { Date = date } }]
            );

        Assert.That(
            ScenarioSection.Write(kept.Single()),
            Does.Contain("| 0.83 (0.00 to 1.00) | met | 0.72, 0.61 |")
                .And.Contains("The runs before: third, commit abc1234, 2 cores; second, commit abc1234, 2 cores.")
        );
    }

    [Test]
    public void A_row_that_an_earlier_run_did_not_have_is_a_dash_there() =>
        Assert.That(
            ScenarioSection.Write(Result(Met) with { Earlier = [Result(), Result(Met with { Peer = "another" }), Result(Met)] }),
            Does.Contain("| met | –, –, 0.82 |")
        );

    [Test]
    public void Results_survive_their_file()
    {
        var file = Path.Combine(Path.GetTempPath(), $"{Guid.NewGuid():N}.json");
        try
        {
            var result = Result(Met) with { Earlier = [Result(Met)] };
            ResultFile.Write(file, [result]);

            Assert.That(ScenarioSection.Write(ResultFile.Read(file)[0]), Is.EqualTo(ScenarioSection.Write(result)));
        }
        finally
        {
            File.Delete(file);
        }
    }

    [Test]
    public void The_summary_counts() =>
        Assert.That(
            Summary.Write([Result(Met, Met with { Met = false }, RowResult.NotRun("S1", "", "", "not run: x"))]),
            Does.EndWith("1 met, 1 missed, 1 not run")
        );

    [TestCase(512, "512 B")]
    [TestCase(6_656, "6.5 KB")]
    [TestCase(2_621_440, "2.5 MB")]
    public void Bytes_are_written_for_people(double bytes, string expected) => Assert.That(Figures.Bytes(bytes), Is.EqualTo(expected));

    private static ScenarioResult Result(params RowResult[] rows) => new("S1", Facts, [new SideSettings("relay", "no audit")], rows);
}
