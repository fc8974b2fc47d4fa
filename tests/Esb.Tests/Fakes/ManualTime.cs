namespace Esb.Tests.Fakes;

/// <summary>Time that stands still until a test moves it. Thread-safe.</summary>
internal sealed class ManualTime : TimeProvider
{
    private readonly Lock _lock = new();
    private readonly List<ManualTimer> _timers = [];
    private DateTimeOffset _now = new(2026, 1, 1, 0, 0, 0, TimeSpan.Zero);

    public override long TimestampFrequency => TimeSpan.TicksPerSecond;

    /// <summary>Timers that wait: how a test knows that somebody has begun to.</summary>
    public int Waiting
    {
        get
        {
            lock (_lock)
                return _timers.Count(timer => timer.Due is not null);
        }
    }

    public override DateTimeOffset GetUtcNow()
    {
        lock (_lock)
            return _now;
    }

    public override long GetTimestamp() => GetUtcNow().Ticks;

    public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period)
    {
        var timer = new ManualTimer(this, callback, state);
        lock (_lock)
            _timers.Add(timer);
        timer.Change(dueTime, period);
        return timer;
    }

    /// <summary>Moves the time on as if the process had stood still: nothing that falls due has run.</summary>
    public void Skip(TimeSpan by)
    {
        lock (_lock)
            _now += by;
    }

    /// <summary>Moves the time on and runs what falls due, in order.</summary>
    public void Advance(TimeSpan by)
    {
        var end = GetUtcNow() + by;
        while (true)
        {
            ManualTimer? next;
            lock (_lock)
            {
                next = _timers.Where(timer => timer.Due <= end).MinBy(timer => timer.Due);
                _now = next?.Due ?? end;
                next?.Elapse();
            }

            if (next is null)
                return;
            next.Callback();
        }
    }

    private sealed class ManualTimer(ManualTime owner, TimerCallback callback, object? state) : ITimer
    {
        private TimeSpan _period;

        public DateTimeOffset? Due { get; private set; }

        public void Callback() => callback(state);

        public void Elapse() => Due = _period > TimeSpan.Zero ? Due + _period : null;

        public bool Change(TimeSpan dueTime, TimeSpan period)
        {
            lock (owner._lock)
            {
                _period = period;
                Due = dueTime == Timeout.InfiniteTimeSpan ? null : owner._now + dueTime;
            }

            return true;
        }

        public void Dispose()
        {
            lock (owner._lock)
            {
                Due = null;
                owner._timers.Remove(this);
            }
        }

        public ValueTask DisposeAsync()
        {
            Dispose();
            return ValueTask.CompletedTask;
        }
    }
}
