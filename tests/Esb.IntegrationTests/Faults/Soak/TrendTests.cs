namespace Esb.IntegrationTests.Faults.Soak;

/// <summary>Trends of series made by hand.</summary>
public sealed class TrendTests
{
    [Test]
    public void Steady_growth_has_its_slope_and_its_drift()
    {
        var trend = Trend.Of(Series(61, minute => 100 + (2 * minute)));

        Assert.Multiple(() =>
        {
            Assert.That(trend.PerHour, Is.EqualTo(120).Within(0.001));
            Assert.That(trend.Drift, Is.EqualTo(120).Within(0.001));
            Assert.That((trend.Middle, trend.Most), Is.EqualTo((160, 220)));
        });
    }

    [Test]
    public void Saw_tooth_of_a_collector_that_comes_back_has_no_slope()
    {
        var trend = Trend.Of(Series(60, minute => 100 + (20 * (minute % 4))));

        Assert.That(trend.Drift, Is.Zero.Within(1));
    }

    [Test]
    public void Few_bad_moments_change_nothing()
    {
        var trend = Trend.Of(Series(60, minute => minute > 54 ? 1_000 : 100));

        Assert.That((trend.PerHour, trend.Most), Is.EqualTo((0, 1_000)));
    }

    [Test]
    public void Growth_beneath_a_saw_tooth_is_found()
    {
        var trend = Trend.Of(Series(60, minute => minute + (20 * (minute % 4))));

        Assert.That(trend.Drift, Is.EqualTo(59).Within(3));
    }

    [Test]
    public void One_moment_is_no_trend() => Assert.That(() => Trend.Of(Series(1, _ => 1)), Throws.ArgumentException);

    private static List<(TimeSpan At, double Value)> Series(int minutes, Func<int, double> value) =>
        [.. Enumerable.Range(0, minutes).Select(minute => (TimeSpan.FromMinutes(minute), value(minute)))];
}
