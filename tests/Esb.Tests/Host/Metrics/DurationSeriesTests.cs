using Esb.Core.Diagnostics;
using Esb.Host.Metrics;
using NUnit.Framework;

namespace Esb.Tests.Host.Metrics;

public sealed class DurationSeriesTests
{
    [Test]
    public void Middle_of_a_bucket_is_within_six_percent_of_what_is_in_it()
    {
        for (var seconds = 20e-6; seconds < 4000; seconds *= 1.013)
            Assert.That(DurationBuckets.MiddleOf(DurationBuckets.IndexOf(seconds)), Is.EqualTo(seconds).Within(6.5).Percent);
    }

    [TestCase(-1, 0), TestCase(0, 0), TestCase(1e9, DurationBuckets.Count - 1), TestCase(double.MaxValue, DurationBuckets.Count - 1)]
    public void What_is_out_of_range_is_in_the_outermost_bucket(double seconds, int index) =>
        Assert.That(DurationBuckets.IndexOf(seconds), Is.EqualTo(index));

    [Test]
    public void Percentiles_are_those_of_what_was_recorded()
    {
        var series = new DurationSeries();
        for (var milliseconds = 1; milliseconds <= 1000; milliseconds++)
            series.Record(milliseconds / 1000.0);

        var summary = series.Summarize();

        Assert.Multiple(() =>
        {
            Assert.That(summary.Count, Is.EqualTo(1000));
            Assert.That(summary.Mean, Is.EqualTo(0.5005).Within(0.1).Percent);
            Assert.That(summary.Percentile(0.5), Is.EqualTo(0.5).Within(7).Percent);
            Assert.That(summary.Percentile(0.95), Is.EqualTo(0.95).Within(7).Percent);
            Assert.That(summary.Percentile(0.99), Is.EqualTo(0.99).Within(7).Percent);
            Assert.That(summary.Longest, Is.EqualTo(1.0).Within(0.01).Percent);
            Assert.That(summary.CountUpTo(0.25), Is.EqualTo(250).Within(7).Percent);
        });
    }

    [Test]
    public void What_is_older_than_five_minutes_is_in_no_percentile_but_in_the_count()
    {
        var series = new DurationSeries();
        series.Record(10);
        for (var minute = 0; minute < 5; minute++)
            series.Step();
        series.Record(0.001);

        var summary = series.Summarize();

        Assert.Multiple(() =>
        {
            Assert.That(summary.Count, Is.EqualTo(2));
            Assert.That(summary.RecentCount, Is.EqualTo(1));
            Assert.That(summary.Percentile(0.99), Is.EqualTo(0.001).Within(7).Percent);
            Assert.That(summary.Longest, Is.EqualTo(10).Within(0.01).Percent);
        });
    }

    [Test]
    public void Peak_begins_anew_when_it_is_reset()
    {
        var series = new DurationSeries();
        series.Record(3);
        series.ResetPeak();
        series.Record(0.5);

        Assert.That(series.Summarize().Longest, Is.EqualTo(0.5).Within(0.01).Percent);
    }

    [Test]
    public void Recording_at_once_loses_nothing()
    {
        var series = new DurationSeries();

        Parallel.For(0, 100_000, _ => series.Record(0.002));

        Assert.That(series.Summarize().Count, Is.EqualTo(100_000));
    }
}
