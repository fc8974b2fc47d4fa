using Esb.Configuration;
using Esb.Core.Configuration;

namespace Esb.Delivery.Intake.Overload;

/// <summary>Indicates whether the managed heap exceeded the high-water mark and has not yet fallen below the low-water mark. Measures at
/// most a few times per second. Thread-safe.</summary>
/// <param name="limits">The marks, in percent of the memory available to the garbage collector: its hard limit, or else the memory of the
/// container or machine.</param>
/// <param name="time">The clock.</param>
/// <param name="measure">Measures the memory in use, in percent.</param>
/// <param name="relieve">Triggers a garbage collection: garbage counts as in use, and while no messages are admitted nothing else would
/// collect it.</param>
public sealed class MemoryMarks(Live<LimitsConfig> limits, TimeProvider time, Func<int> measure, Action relieve)
{
    private static readonly TimeSpan Interval = TimeSpan.FromMilliseconds(250);

    private readonly Lock _gate = new();
    private long? _measuredAt;
    private volatile bool _areTight;
    private volatile int _inUse;

    public MemoryMarks(Live<LimitsConfig> limits, TimeProvider time)
        : this(limits, time, Measure, static () => GC.Collect(GC.MaxGeneration, GCCollectionMode.Default, blocking: false)) { }

    /// <summary>The memory in use when it was measured last, in percent.</summary>
    public int InUse => _inUse;

    public bool AreTight
    {
        get
        {
            if (_gate.TryEnter())
            {
                try
                {
                    if (_measuredAt is not { } last || time.GetElapsedTime(last) >= Interval)
                        Look();
                }
                finally
                {
                    _gate.Exit();
                }
            }

            return _areTight;
        }
    }

    private void Look()
    {
        var inUse = _inUse = measure();
        _measuredAt = time.GetTimestamp();
        _areTight = inUse >= (_areTight ? limits.Current.MemoryLow : limits.Current.MemoryHigh);
        if (_areTight)
            relieve();
    }

    private static int Measure() =>
        (int)(100 * GC.GetTotalMemory(forceFullCollection: false) / GC.GetGCMemoryInfo().TotalAvailableMemoryBytes);
}
