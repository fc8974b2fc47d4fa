using System.Globalization;
using Esb.Core.Schedules;
using Esb.Delivery.Intake.Holds;

namespace Esb.Tests.Delivery.Intake.Holds;

public sealed class OpeningHoursTests
{
    [TestCase("2026-01-05T06:59:59Z", "2026-01-05T07:00:00Z", Description = "Monday morning")]
    [TestCase("2026-01-05T07:00:00Z", null)]
    [TestCase("2026-01-05T16:59:59Z", null)]
    [TestCase("2026-01-05T17:00:00Z", "2026-01-06T07:00:00Z")]
    [TestCase("2026-01-09T17:00:00Z", "2026-01-12T07:00:00Z", Description = "Friday evening")]
    [TestCase("2026-07-06T05:59:59Z", "2026-07-06T06:00:00Z", Description = "in summer")]
    [TestCase("2026-03-27T17:00:00Z", "2026-03-30T06:00:00Z", Description = "over the weekend of the change")]
    public void Office_hours_in_Berlin(string now, string? opens) =>
        Assert.That(OpensAt(Hours("08:00", "18:00", "mon-fri", "Europe/Berlin"), now), Is.EqualTo(Instant(opens)));

    [TestCase("2026-01-05T21:59:59Z", "2026-01-05T22:00:00Z")]
    [TestCase("2026-01-06T05:59:59Z", null, Description = "it opened on Monday")]
    [TestCase("2026-01-06T06:00:00Z", "2026-01-12T22:00:00Z")]
    public void Night_that_ends_on_the_next_day(string now, string? opens) =>
        Assert.That(OpensAt(Hours("22:00", "06:00", "mon"), now), Is.EqualTo(Instant(opens)));

    [TestCase("2026-01-05T00:00:00Z"), TestCase("2026-01-05T23:59:59.999Z")]
    public void Whole_days_are_always_open(string now) => Assert.That(OpensAt(Hours("00:00", "24:00"), now), Is.Null);

    [TestCase("2026-03-29T00:59:59Z", "2026-03-29T01:00:00Z", Description = "02:30 is not there: it opens at 03:00")]
    [TestCase("2026-03-29T01:59:59Z", null)]
    [TestCase("2026-03-29T02:00:00Z", "2026-03-30T00:30:00Z")]
    public void Time_that_a_change_of_the_clocks_leaves_out(string now, string? opens) =>
        Assert.That(OpensAt(Hours("02:30", "04:00", zone: "Europe/Berlin"), now), Is.EqualTo(Instant(opens)));

    [TestCase("2026-10-25T00:29:59Z", "2026-10-25T00:30:00Z")]
    [TestCase("2026-10-25T01:44:59Z", null)]
    [TestCase("2026-10-25T01:45:00Z", "2026-10-26T01:30:00Z")]
    public void Time_that_comes_twice(string now, string? opens) =>
        Assert.That(OpensAt(Hours("02:30", "02:45", zone: "Europe/Berlin"), now), Is.EqualTo(Instant(opens)));

    [Test]
    public void Clock_that_is_set_back_is_believed()
    {
        var hours = Hours("08:00", "18:00");
        var open = OpensAt(hours, "2026-01-05T12:00:00Z");

        Assert.That((open, OpensAt(hours, "2026-01-05T07:00:00Z")), Is.EqualTo(((DateTimeOffset?)null, Instant("2026-01-05T08:00:00Z"))));
    }

    [
        TestCase("08:00", true),
        TestCase("24:00", true),
        TestCase("00:00", true),
        TestCase("24:01", false),
        TestCase("8:00", false),
        TestCase("08:60", false),
        TestCase("08:00:00", false),
        TestCase("", false)
    ]
    public void Time_of_day_is_read(string text, bool isOne) => Assert.That(TimeOfDay.Parse(text) is not null, Is.EqualTo(isOne));

    [
        TestCase("mon-fri", "12345"),
        TestCase("sat-mon", "016"),
        TestCase("mon, wed,sat-sun", "0136"),
        TestCase("sun", "0"),
        TestCase("mon-mon", "1")
    ]
    public void Days_are_read(string text, string days) =>
        Assert.That(string.Concat(Enumerable.Range(0, 7).Where(day => WeekDays.Parse(text)!.Contains((DayOfWeek)day))), Is.EqualTo(days));

    [TestCase("monday"), TestCase(""), TestCase("mon-"), TestCase("mon-tue-wed"), TestCase("Mon"), TestCase("mon,,tue")]
    public void What_is_no_days_is_refused(string text) => Assert.That(WeekDays.Parse(text), Is.Null);

    [
        TestCase("Europe/Berlin", true),
        TestCase("UTC", true),
        TestCase("Europe/Atlantis", false),
        TestCase("../../etc/passwd", false),
        TestCase("/etc/localtime", false),
        TestCase("Europe", false),
        TestCase("", false)
    ]
    public void Time_zone_is_one_that_the_system_knows(string text, bool isOne) =>
        Assert.That(TimeZoneName.Parse(text) is not null, Is.EqualTo(isOne));

    private static OpeningHours Hours(string from, string to, string? days = null, string? zone = null) =>
        new(
            new ScheduleConfig
            {
                From = TimeOfDay.Parse(from)!,
                To = TimeOfDay.Parse(to)!,
                Days = days is null ? null : WeekDays.Parse(days),
                TimeZone = zone is null ? null : TimeZoneName.Parse(zone),
            }
        );

    private static DateTimeOffset? OpensAt(OpeningHours hours, string now) => hours.OpensAt(Instant(now)!.Value);

    private static DateTimeOffset? Instant(string? text) => text is null ? null : DateTimeOffset.Parse(text, CultureInfo.InvariantCulture);
}
