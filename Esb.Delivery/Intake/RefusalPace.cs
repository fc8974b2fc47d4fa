using System.Collections.Concurrent;

namespace Esb.Delivery.Intake;

/// <summary>Decides which failures of one endpoint are logged: the first of each code, then one every 10 s with the number of those in
/// between. Thread-safe.</summary>
internal sealed class RefusalPace(TimeProvider time)
{
    /// <summary>The least time between two lines of one code.</summary>
    public static readonly TimeSpan Interval = TimeSpan.FromSeconds(10);

    // bounded: codes are of the program and its configuration
    private readonly ConcurrentDictionary<string, Entry> _entries = new(StringComparer.Ordinal);

    /// <summary>True if the failure is to be logged.</summary>
    /// <param name="code">The code of the failure.</param>
    /// <param name="suppressed">The failures of this code since the last line.</param>
    public bool IsDue(string code, out long suppressed)
    {
        var entry = _entries.GetOrAdd(code, _ => new Entry());
        lock (entry)
        {
            suppressed = entry.Suppressed;
            var now = time.GetTimestamp();
            if (entry.LastAt is { } last && time.GetElapsedTime(last, now) < Interval)
            {
                entry.Suppressed++;
                return false;
            }

            (entry.LastAt, entry.Suppressed) = (now, 0);
            return true;
        }
    }

    private sealed class Entry
    {
        public long? LastAt { get; set; }

        public long Suppressed { get; set; }
    }
}
