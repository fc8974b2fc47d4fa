using Esb.Audit.Pressure;
using NUnit.Framework;

namespace Esb.Tests.Audit.Pressure;

[FixtureLifeCycle(LifeCycle.InstancePerTestCase)]
public sealed class SpoolMarksTests
{
    private readonly SpoolMarks _marks = new();

    [Test, Property("Case", "T-AUD-1")]
    public void Callers_wait_longer_the_fuller_it_is()
    {
        var waits = new[] { 0.0, 0.79, 0.80, 0.85, 0.90, 0.94, 0.95 }.Select(WaitAt).ToList();

        Assert.That(waits[..3], Is.All.EqualTo(TimeSpan.Zero));
        Assert.That(waits, Is.Ordered);
        Assert.That(waits[3], Is.GreaterThan(TimeSpan.FromMilliseconds(50)));
        Assert.That(waits[^1], Is.EqualTo(TimeSpan.FromSeconds(1)));
    }

    [Test, Property("Case", "T-AUD-1")]
    public void Full_at_the_high_mark_until_it_is_below_the_low_one()
    {
        var seen = new[] { 0.94, 0.95, 0.80, 0.70, 0.69, 0.94 }.Select(IsFullAt).ToList();

        Assert.That(seen, Is.EqualTo(new[] { false, true, true, true, false, false }));
    }

    private TimeSpan WaitAt(double fill)
    {
        _marks.Look(fill);
        return _marks.Wait;
    }

    private bool IsFullAt(double fill)
    {
        _marks.Look(fill);
        return _marks.IsFull;
    }
}
