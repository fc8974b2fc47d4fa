namespace Esb.Storage.Segments;

/// <summary>How a folder of segments is written.</summary>
/// <param name="MaxSegmentBytes">A segment that has grown beyond it is the last of its kind: the next record goes to a new one.</param>
internal sealed record SegmentOptions(long MaxSegmentBytes)
{
    public static readonly SegmentOptions Default = new(MaxSegmentBytes: 32 << 20);
}
