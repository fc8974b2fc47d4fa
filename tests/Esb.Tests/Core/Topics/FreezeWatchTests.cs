using Esb.Core.Topics;
using Esb.Tests.Fakes;
using NUnit.Framework;

namespace Esb.Tests.Topics;

public sealed class FreezeWatchTests
{
    [Test]
    public void Time_that_passes_tick_by_tick_is_no_freeze()
    {
        var time = new ManualTime();
        using var watch = new FreezeWatch(time);

        time.Advance(TimeSpan.FromHours(1));

        Assert.That(watch.Count, Is.Zero);
    }

    [Test]
    public void Time_that_passes_without_a_tick_is_a_freeze_and_counts_once()
    {
        var time = new JumpingTime();
        using var watch = new FreezeWatch(time);

        time.Now += TimeSpan.FromSeconds(4);
        var counts = new[] { watch.Count, watch.Count };
        time.Now += TimeSpan.FromSeconds(2);

        Assert.That(counts, Is.EqualTo(new[] { 1, 1 }));
        Assert.That(watch.Count, Is.EqualTo(1));
    }

    // A frozen process: time passes, and no timer fires.
    private sealed class JumpingTime : TimeProvider
    {
        public TimeSpan Now { get; set; }

        public override long TimestampFrequency => TimeSpan.TicksPerSecond;

        public override long GetTimestamp() => Now.Ticks;

        public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period) =>
            base.CreateTimer(callback, state, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
    }
}
