using Esb.Host.Metrics;
using NUnit.Framework;

namespace Esb.Tests.Host.Metrics;

public sealed class CounterSeriesTests
{
    private long _now = TimeSpan.TicksPerSecond;

    [Test]
    public void Rates_are_those_of_their_windows()
    {
        var series = new CounterSeries();

        Run(series, seconds: 240, perSecond: 10);
        Run(series, seconds: 50, perSecond: 100);
        Run(series, seconds: 10, perSecond: 40);

        var summary = series.Summarize();
        Assert.Multiple(() =>
        {
            Assert.That(summary.Total, Is.EqualTo((240 * 10) + (50 * 100) + (10 * 40)));
            Assert.That(summary.Last10Seconds, Is.EqualTo(40).Within(0.001));
            Assert.That(summary.LastMinute, Is.EqualTo(90).Within(0.001));
            Assert.That(summary.Last5Minutes, Is.EqualTo(7790.0 / 299).Within(0.001));
            Assert.That(summary.Peak, Is.EqualTo(100).Within(0.001));
        });
    }

    [Test]
    public void Rate_of_a_minute_is_that_since_the_start_before_there_is_a_minute()
    {
        var series = new CounterSeries();

        Run(series, seconds: 3, perSecond: 5);

        Assert.That(series.Summarize().LastMinute, Is.EqualTo(5).Within(0.001));
    }

    [Test]
    public void What_came_before_the_first_sample_counts_in_rates_and_peak()
    {
        var series = new CounterSeries();

        Run(series, seconds: 1, perSecond: 500);
        Run(series, seconds: 20, perSecond: 0);

        var summary = series.Summarize();
        Assert.Multiple(() =>
        {
            Assert.That(summary.Total, Is.EqualTo(500));
            Assert.That(summary.Last10Seconds, Is.Zero);
            Assert.That(summary.LastMinute, Is.EqualTo(500.0 / 21).Within(0.001));
            Assert.That(summary.Peak, Is.EqualTo(50).Within(0.001), "over 10 s");
        });
    }

    [Test]
    public void Peak_is_that_of_ten_seconds_also_before_they_are_over()
    {
        var series = new CounterSeries();

        Run(series, seconds: 2, perSecond: 50);

        Assert.That(series.Summarize().Peak, Is.EqualTo(10).Within(0.001));
    }

    [Test]
    public void Peak_begins_anew_when_it_is_reset()
    {
        var series = new CounterSeries();
        Run(series, seconds: 20, perSecond: 50);
        Run(series, seconds: 20, perSecond: 1);

        series.ResetPeak();
        Run(series, seconds: 1, perSecond: 1);

        Assert.That(series.Summarize().Peak, Is.EqualTo(1).Within(0.001));
    }

    private void Run(CounterSeries series, int seconds, int perSecond)
    {
        for (var second = 0; second < seconds; second++)
        {
            series.Add(perSecond);
            _now += TimeSpan.TicksPerSecond;
            series.Sample(_now);
        }
    }
}
