namespace Esb.Core.Topics;

/// <summary>Detects that the process was frozen: stopped by a signal, or its machine put to sleep. Thread-safe.</summary>
/// <remarks>A process that resumes may have been replaced meanwhile, without notice (pattern: zombie of a fencing token's owner).</remarks>
public sealed class FreezeWatch : IDisposable
{
    private static readonly TimeSpan Interval = TimeSpan.FromMilliseconds(500);
    private static readonly TimeSpan LongestGap = TimeSpan.FromSeconds(3);

    private readonly Lock _gate = new();
    private readonly TimeProvider _time;
    private readonly ITimer _ticker;
    private long _last;
    private int _count;

    /// <summary>Starts watching.</summary>
    public FreezeWatch(TimeProvider time)
    {
        _time = time;
        _last = time.GetTimestamp();
        _ticker = time.CreateTimer(_ => Look(), null, Interval, Interval);
    }

    /// <summary>Number of freezes since the start of the watch, up to now.</summary>
    public int Count => Look();

    /// <inheritdoc/>
    public void Dispose() => _ticker.Dispose();

    private int Look()
    {
        lock (_gate)
        {
            var now = _time.GetTimestamp();
            if (_time.GetElapsedTime(_last, now) > LongestGap)
                _count++;
            _last = now;
            return _count;
        }
    }
}
