using Microsoft.Win32.SafeHandles;

namespace Esb.Storage.Segments;

/// <summary>How a folder of segments is written.</summary>
/// <param name="MaxSegmentBytes">A segment that has grown beyond it is the last of its kind: the next record goes to a new one.</param>
internal sealed record SegmentOptions(long MaxSegmentBytes)
{
    public static readonly SegmentOptions Default = new(MaxSegmentBytes: 32 << 20);

    /// <summary>How long a record whose caller does not wait for the flush is written, but not flushed. Half of what is promised: the flush
    /// takes its time, too.</summary>
    public TimeSpan FlushDelay { get; init; } = TimeSpan.FromMilliseconds(50);

    /// <summary>Flushes a file; replaced by tests that have a slow disk, or a broken one.</summary>
    public Action<SafeFileHandle> Flush { get; init; } = RandomAccess.FlushToDisk;
}
