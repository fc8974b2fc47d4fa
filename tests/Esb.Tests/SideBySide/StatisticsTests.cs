using SideBySide.Measuring;

namespace Esb.Tests.SideBySide;

public sealed class StatisticsTests
{
    [TestCase(new[] { 3.0, 1.0, 2.0 }, 2.0)]
    [TestCase(new[] { 4.0, 1.0, 2.0, 3.0 }, 2.5)]
    [TestCase(new[] { 7.0 }, 7.0)]
    public void The_median_is_the_middle_of_the_sorted_values(double[] values, double expected) =>
        Assert.That(Statistics.Median(values), Is.EqualTo(expected));

    [Test]
    public void A_median_of_nothing_is_refused() => Assert.That(() => Statistics.Median([]), Throws.InvalidOperationException);

    [Test]
    public void What_is_not_known_does_not_count() =>
        Assert.Multiple(() =>
        {
            Assert.That(Statistics.MedianKnown([null, 2, 4]), Is.EqualTo(3));
            Assert.That(Statistics.MedianKnown([null]), Is.Null);
        });

    [Test]
    public void Ratios_are_taken_round_by_round()
    {
        // The machine was slow in the second round: the rates fall by half, the ratios do not.
        var ratios = Spread.OfRatios([100, 50, 110], [200, 100, 200]);

        Assert.That(
            ratios,
            Is.EqualTo(new Spread(0.5, 0.5, 0.55))
                .Using<Spread>(
                    (one, other) =>
                        Math.Abs(one.Median - other.Median) < 1e-9
                        && Math.Abs(one.Low - other.Low) < 1e-9
                        && Math.Abs(one.High - other.High) < 1e-9
                )
        );
    }

    [TestCase(0.746, true)]
    [TestCase(0.744, false)]
    public void A_ratio_is_judged_as_it_is_shown(double ratio, bool isMet) => Assert.That(Goal.Ratio(0.75).IsMet(ratio), Is.EqualTo(isMet));

    [TestCase(6_144, true)]
    [TestCase(6_145, false)]
    public void Bytes_are_to_stay_below_their_goal(double bytes, bool isMet) =>
        Assert.That(Goal.Allocates(6_144).IsMet(bytes), Is.EqualTo(isMet));
}
