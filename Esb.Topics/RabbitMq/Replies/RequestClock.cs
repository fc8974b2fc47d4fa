namespace Esb.Topics.RabbitMq.Replies;

/// <summary>Ends expired requests: one timer for all, however many there are (a hashed timing wheel, as in Varghese and Lauck 1987).
/// Thread-safe.</summary>
/// <remarks>A request ends up to 20 ms late, never early.</remarks>
internal sealed class RequestClock : IDisposable
{
    private const int Ticks = 512; // about ten seconds in all; a longer wait stays in its slot for several rounds

    private static readonly TimeSpan Interval = TimeSpan.FromMilliseconds(20);

    private readonly Lock _gate = new();
    private readonly LinkedList<WaitingRequest>[] _wheel = [.. Enumerable.Range(0, Ticks).Select(_ => new LinkedList<WaitingRequest>())];
    private readonly TimeProvider _time;
    private readonly long _started;
    private readonly ITimer _timer;
    private long _now;
    private int _count;

    public RequestClock(TimeProvider time)
    {
        (_time, _started) = (time, time.GetTimestamp());
        _timer = time.CreateTimer(_ => Advance(), null, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
    }

    /// <summary>The number of requests on the wheel.</summary>
    public int Count
    {
        get
        {
            lock (_gate)
                return _count;
        }
    }

    /// <summary>Adds a request, which fails with a <see cref="TimeoutException"/> when its time is up.</summary>
    public void Add(WaitingRequest request, TimeSpan timeout)
    {
        lock (_gate)
        {
            if (_count++ == 0)
            {
                _now = Current;
                _timer.Change(Interval, Interval);
            }

            request.Tick = Current + (long)Math.Ceiling(timeout / Interval) + 1;
            request.Place = _wheel[request.Tick % Ticks].AddLast(request);
        }
    }

    /// <summary>Removes a request that has ended.</summary>
    public void Remove(WaitingRequest request)
    {
        lock (_gate)
            TakeOff(request);
    }

    public void Dispose() => _timer.Dispose();

    private long Current => (long)(_time.GetElapsedTime(_started) / Interval);

    private void Advance()
    {
        lock (_gate)
        {
            var current = Current;
            if (current - _now > Ticks)
                _now = current - Ticks; // the clock stood still for longer than a round
            while (_now < current)
                EndThoseOf(++_now);
        }
    }

    private void EndThoseOf(long tick)
    {
        for (var place = _wheel[tick % Ticks].First; place is not null; )
        {
            var (request, next) = (place.Value, place.Next);
            if (request.Tick <= tick)
            {
                TakeOff(request);
                request.TrySetException(new TimeoutException());
            }

            place = next;
        }
    }

    private void TakeOff(WaitingRequest request)
    {
        if (request.Place is not { } place)
            return;
        place.List!.Remove(place);
        request.Place = null;
        if (--_count == 0)
            _timer.Change(Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
    }
}
