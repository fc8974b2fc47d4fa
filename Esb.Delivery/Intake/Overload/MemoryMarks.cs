using Esb.Configuration;
using Esb.Core.Configuration;

namespace Esb.Delivery.Intake.Overload;

/// <summary>Whether the managed heap has grown beyond the higher mark and not yet shrunk below the lower one. Looks at it a few times a second at most. Thread-safe.</summary>
/// <param name="limits">The marks, in percent of what the garbage collector may use: its hard limit, or else the memory of the container or machine.</param>
/// <param name="time">The time.</param>
/// <param name="measure">How much is in use, in percent.</param>
/// <param name="relieve">Has garbage collected: it counts as in use, and where nobody is let in nothing else would collect it.</param>
public sealed class MemoryMarks(Live<LimitsConfig> limits, TimeProvider time, Func<int> measure, Action relieve)
{
    private static readonly TimeSpan Interval = TimeSpan.FromMilliseconds(250);

    private readonly Lock _gate = new();
    private long? _measuredAt;
    private volatile bool _areTight;

    public MemoryMarks(Live<LimitsConfig> limits, TimeProvider time)
        : this(limits, time, Measure, static () => GC.Collect(GC.MaxGeneration, GCCollectionMode.Default, blocking: false))
    {
    }

    public bool AreTight
    {
        get
        {
            if (_gate.TryEnter())
            {
                try
                {
                    if (_measuredAt is not { } last || time.GetElapsedTime(last) >= Interval) Look();
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
        var inUse = measure();
        _measuredAt = time.GetTimestamp();
        _areTight = inUse >= (_areTight ? limits.Current.MemoryLow : limits.Current.MemoryHigh);
        if (_areTight) relieve();
    }

    private static int Measure() => (int)(100 * GC.GetTotalMemory(forceFullCollection: false) / GC.GetGCMemoryInfo().TotalAvailableMemoryBytes);
}
