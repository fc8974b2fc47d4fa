using System.Diagnostics;

namespace Esb.IntegrationTests.Speed;

/// <summary>Counts messages, and measures the time from the first to the last. Thread-safe.</summary>
internal sealed class Tally(int count)
{
    private readonly TaskCompletionSource<TimeSpan> _took = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly long _created = Stopwatch.GetTimestamp();
    private long _began;
    private int _seen;

    /// <summary>The time from the first message to the last, once the last is there.</summary>
    public Task<TimeSpan> Took => _took.Task;

    public void Add()
    {
        var seen = Interlocked.Increment(ref _seen);
        if (seen == 1)
            Volatile.Write(ref _began, Stopwatch.GetTimestamp());
        if (seen != count)
            return;
        var began = Volatile.Read(ref _began);
        _took.TrySetResult(Stopwatch.GetElapsedTime(began == 0 ? _created : began));
    }
}
