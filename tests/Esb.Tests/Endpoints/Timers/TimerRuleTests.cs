using System.Globalization;
using Esb.Core.Schedules;
using Esb.Endpoints.Timers;

namespace Esb.Tests.Endpoints.Timers;

public sealed class TimerRuleTests
{
    [TestCase(
        "0 2 * * *",
        "2026-03-27T12:00Z",
        "2026-03-28T01:00Z 2026-03-29T01:00Z 2026-03-30T00:00Z",
        TestName = "Hour_that_is_left_out_in_spring_is_due_once"
    )]
    [TestCase(
        "30 2 * * *",
        "2026-10-24T12:00Z",
        "2026-10-25T00:30Z 2026-10-26T01:30Z",
        TestName = "Hour_that_comes_twice_in_autumn_is_due_once"
    )]
    [TestCase(
        "0 2 * * mon-fri",
        "2026-11-20T12:00Z",
        "2026-11-23T01:00Z 2026-11-24T01:00Z",
        TestName = "Days_of_the_week_are_those_of_the_zone"
    )]
    public void Cron_follows_the_clock_of_its_zone(string cron, string after, string expected)
    {
        var rule = new TimerRule(
            new TimerInboundConfig
            {
                Name = "nightly",
                Cron = CronRule.Parse(cron),
                TimeZone = TimeZoneName.Parse("Europe/Berlin"),
            }
        );
        var times = expected.Split(' ').Select(Time).ToList();

        Assert.That(rule.Between(Time(after), times[^1]), Is.EqualTo(times));
    }

    [Test]
    public void Six_fields_begin_with_seconds()
    {
        var rule = new TimerRule(new TimerInboundConfig { Name = "often", Cron = CronRule.Parse("*/20 * * * * *") });

        Assert.That(rule.Between(Time("2026-01-01T00:00Z"), Time("2026-01-01T00:01Z")).Select(due => due.Second), Is.EqualTo([20, 40, 0]));
    }

    [Test]
    public void Interval_falls_on_its_multiples_whenever_the_host_started()
    {
        var rule = new TimerRule(new TimerInboundConfig { Name = "often", Interval = TimeSpan.FromMinutes(15) });

        Assert.That(rule.After(Time("2026-01-01T00:07Z")), Is.EqualTo(Time("2026-01-01T00:15Z")));
        Assert.That(rule.After(Time("2026-01-01T00:15Z")), Is.EqualTo(Time("2026-01-01T00:30Z")));
    }

    [
        TestCase("@daily"),
        TestCase("0 2 * *"),
        TestCase("0 2 * * * * *"),
        TestCase("61 2 * * *"),
        TestCase("0 2 30 2 *"),
        TestCase(""),
        TestCase("0 2 * * mun")
    ]
    public void What_is_no_time_is_refused(string cron) => Assert.That(CronRule.Parse(cron), Is.Null);

    private static DateTimeOffset Time(string text) => DateTimeOffset.Parse(text, CultureInfo.InvariantCulture);
}
