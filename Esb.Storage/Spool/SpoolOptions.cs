using Esb.Storage.Segments;

namespace Esb.Storage.Spool;

/// <summary>How large a spool may grow.</summary>
/// <param name="MaxBytes">The most bytes of its segments.</param>
/// <param name="Segments">How they are written: only whole segments are deleted, so they are a small part of the whole.</param>
internal sealed record SpoolOptions(long MaxBytes, SegmentOptions Segments)
{
    private const int MinSegments = 16;

    /// <summary>The most bytes of records whose facts stay in memory, where they take a few times as much.</summary>
    public long TailBytes { get; init; } = 4 << 20;

    public static SpoolOptions Of(long maxBytes) =>
        new(maxBytes, new SegmentOptions(Math.Min(SegmentOptions.Default.MaxSegmentBytes, maxBytes / MinSegments)));
}
