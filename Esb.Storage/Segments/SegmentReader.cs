using Microsoft.Extensions.Logging;

namespace Esb.Storage.Segments;

/// <summary>A record and its place.</summary>
internal readonly record struct PlacedRecord(SegmentPosition Position, ReadOnlyMemory<byte> Payload);

/// <summary>Reads the records of a folder in the order written and, called again, those that came since; also beside a writer in another
/// process. Not thread-safe.</summary>
/// <param name="folder">The folder.</param>
/// <param name="committed">How far the writer has come, where it is in this process; otherwise an unfinished record at the end is left for
/// the next time.</param>
/// <param name="logger">Logs damage.</param>
/// <param name="known">The positions of damage already reported, which grows; null to report all damage found by each reading.</param>
internal sealed partial class SegmentReader(
    string folder,
    Func<SegmentPosition>? committed,
    ILogger logger,
    ISet<SegmentPosition>? known = null
)
{
    /// <summary>Behind the last record that was read.</summary>
    public SegmentPosition Position { get; set; } = SegmentPosition.Start;

    public IEnumerable<PlacedRecord> ReadNew()
    {
        var limit = committed?.Invoke();
        var segments = SegmentFile.List(folder);
        foreach (var segment in segments)
        {
            if (segment.Number < Position.Segment)
                continue;
            foreach (var record in ReadSegment(segment, segment == segments[^1], limit))
                yield return record;
        }
    }

    /// <summary>Reads what is new in one segment.</summary>
    public IEnumerable<PlacedRecord> ReadSegment(SegmentFile segment, bool isLast, SegmentPosition? limit)
    {
        if (limit is not null && segment.Number > limit.Segment)
            yield break; // before it counts as begun
        if (segment.Number != Position.Segment)
            Position = new SegmentPosition(segment.Number, 0);

        using var file = SegmentHandle.TryOpenForReading(segment);
        if (file is null)
            yield break; // removed meanwhile
        var length = RandomAccess.GetLength(file);
        var end = limit is not null && segment.Number == limit.Segment ? Math.Min(limit.Offset, length) : length;
        foreach (var scanned in SegmentScanner.Scan(file, Position.Offset, end))
        {
            if (scanned.Payload is null && isLast && scanned.End == length)
                yield break; // being written
            Position = new SegmentPosition(segment.Number, scanned.End);
            if (scanned.Payload is { } payload)
                yield return new PlacedRecord(new SegmentPosition(segment.Number, scanned.Offset), payload);
            else if (known?.Add(new SegmentPosition(segment.Number, scanned.Offset)) != false)
                LogDamaged(segment, scanned.Offset, scanned.End - scanned.Offset);
        }
    }

    [LoggerMessage(EventId = 4501, Level = LogLevel.Error, Message = "{Segment} is damaged at {Offset}: {Bytes} bytes are skipped")]
    private partial void LogDamaged(SegmentFile segment, long offset, long bytes);
}
