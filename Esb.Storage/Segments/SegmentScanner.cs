using Microsoft.Win32.SafeHandles;

namespace Esb.Storage.Segments;

/// <summary>A record, or a stretch of bytes that holds none.</summary>
/// <param name="Offset">Where it begins.</param>
/// <param name="End">Where it ends.</param>
/// <param name="Payload">The record's bytes, valid until the next one is read; null for a damaged stretch.</param>
internal readonly record struct ScannedRecord(long Offset, long End, ReadOnlyMemory<byte>? Payload);

/// <summary>Reads the records of a file in order, and continues behind damaged stretches.</summary>
internal static class SegmentScanner
{
    public static IEnumerable<ScannedRecord> Scan(SafeFileHandle file, long from, long to)
    {
        var window = new SegmentWindow(file, to);
        for (var offset = from; offset < to; )
        {
            var scanned = TryRead(window, offset, to) is { } payload
                ? new ScannedRecord(offset, offset + SegmentRecord.HeaderBytes + payload.Length, payload)
                : new ScannedRecord(offset, FindNext(window, offset + 1, to), null);
            offset = scanned.End;
            yield return scanned;
        }
    }

    /// <summary>The payload of the record at an offset; null if there is no intact record.</summary>
    public static ReadOnlyMemory<byte>? ReadAt(SafeFileHandle file, long offset)
    {
        var end = RandomAccess.GetLength(file);
        return offset >= end ? null : TryRead(new SegmentWindow(file, end, pieceBytes: 2048), offset, end);
    }

    private static ReadOnlyMemory<byte>? TryRead(SegmentWindow window, long offset, long to)
    {
        if (SegmentRecord.ReadSize(window.At(offset, SegmentRecord.HeaderBytes).Span) is not { } size)
            return null;
        if (size > to - offset || size > Array.MaxLength)
            return null;
        var record = window.At(offset, (int)size);
        if (record.Length != size || !SegmentRecord.IsIntact(record.Span))
            return null;
        return record[SegmentRecord.HeaderBytes..];
    }

    private static long FindNext(SegmentWindow window, long from, long to)
    {
        const int Piece = 64 * 1024;
        for (var offset = from; offset < to; )
        {
            var bytes = window.At(offset, Piece).Span;
            var found = bytes.IndexOf(SegmentRecord.Mark);
            if (found < 0)
            {
                if (bytes.Length < Piece)
                    return to;
                offset += bytes.Length - (SegmentRecord.Mark.Length - 1); // a mark may lie across two pieces
                continue;
            }

            offset += found;
            if (TryRead(window, offset, to) is not null)
                return offset;
            offset++;
        }

        return to;
    }
}
