using Esb.Endpoints.Http.Transport;
using Esb.Tests.Fakes;

namespace Esb.Tests.Endpoints.Http.Transport;

/// <summary>A hold is told of with its length, and without the time in which the thread could not run.</summary>
public sealed class HoldWatchTests
{
    private readonly ManualTime _time = new();
    private TimeSpan _stalled;
    private HoldWatch _watch = null!;

    [SetUp]
    public void Begin()
    {
        _stalled = TimeSpan.FromSeconds(7);
        _watch = new HoldWatch(_time, () => _stalled);
        _watch.Begin();
    }

    [TestCase(0, null)]
    [TestCase(50, null)]
    [TestCase(51, 51)]
    [TestCase(3_000, 3_000)]
    public void Hold_is_told_if_it_is_longer_than_the_limit(int held, int? told)
    {
        _time.Advance(Milliseconds(held));

        Assert.That(_watch.End()?.TotalMilliseconds, Is.EqualTo(told));
    }

    [TestCase(80, 30, null)]
    [TestCase(80, 29, 51)]
    [TestCase(900, 900, null)]
    public void Time_in_which_the_thread_could_not_run_does_not_count(int held, int stalled, int? told)
    {
        _time.Advance(Milliseconds(held));
        _stalled += Milliseconds(stalled);

        Assert.That(_watch.End()?.TotalMilliseconds, Is.EqualTo(told));
    }

    [Test]
    public void Standing_still_long_before_a_hold_does_not_shorten_it()
    {
        _watch.End();
        _stalled += Milliseconds(500);
        _time.Advance(Milliseconds(100));
        _watch.Begin();
        _time.Advance(Milliseconds(60));

        Assert.That(_watch.End(), Is.EqualTo(Milliseconds(60)));
    }

    [Test]
    public void Each_hold_is_measured_anew()
    {
        _time.Advance(Milliseconds(70));
        _watch.End();
        _time.Advance(Milliseconds(200));
        _watch.Begin();
        _time.Advance(Milliseconds(20));

        Assert.That(_watch.End(), Is.Null);
    }

    [Test]
    public void Beginning_is_known_until_the_end()
    {
        var began = _watch.HeldSince;
        _watch.End();

        Assert.That((began, _watch.HeldSince), Is.EqualTo((_time.GetTimestamp(), 0L)));
    }

    private static TimeSpan Milliseconds(int number) => TimeSpan.FromMilliseconds(number);
}
