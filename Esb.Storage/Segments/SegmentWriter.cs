using System.Buffers;
using Esb.Core.Storage;
using Microsoft.Win32.SafeHandles;

namespace Esb.Storage.Segments;

/// <summary>Writes groups of records to the last segment of a folder, and to a new one once the last is complete. Not
/// thread-safe.</summary>
/// <param name="folder">The folder.</param>
/// <param name="start">The position behind the last durable record.</param>
/// <param name="maxSegmentBytes">A segment of that size gets no further group.</param>
internal sealed class SegmentWriter(string folder, SegmentPosition start, long maxSegmentBytes) : IDisposable
{
    private SafeFileHandle? _file;
    private SegmentPosition _committed = start;

    /// <summary>Writes a group; durable when it returns.</summary>
    /// <returns>The position behind its last record.</returns>
    /// <exception cref="IOException">It could not be written. Call <see cref="Abandon"/> before the next group.</exception>
    /// <exception cref="UnauthorizedAccessException">The same.</exception>
    public SegmentPosition Write(IReadOnlyList<SegmentEntry> group)
    {
        if (_committed.Offset >= maxSegmentBytes) MoveOn();
        _file ??= Open(new SegmentFile(folder, _committed.Segment));
        var end = Write(_file, _committed.Offset, group);
        RandomAccess.FlushToDisk(_file);
        return _committed = _committed with { Offset = end };
    }

    /// <summary>Abandons the segment after a failed flush: its content on disk is unknown, and a second flush would not tell. The next
    /// group goes to a new segment.</summary>
    /// <returns>The error of truncating the unfinished group; null if there was none. Readers skip unfinished records.</returns>
    public Exception? Abandon()
    {
        if (_file is null) return null;
        try
        {
            if (_committed.Offset > 0)
            {
                RandomAccess.SetLength(_file, _committed.Offset);
                MoveOn();
            }
            else
            {
                Close();
                new SegmentFile(folder, _committed.Segment).Delete(); // it holds nothing: its number is free again
            }

            return null;
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
        {
            MoveOn();
            return ex;
        }
    }

    public void Dispose() => Close();

    private void MoveOn()
    {
        Close();
        _committed = new SegmentPosition(_committed.Segment + 1, 0);
    }

    private void Close()
    {
        _file?.Dispose();
        _file = null;
    }

    private SafeFileHandle Open(SegmentFile segment)
    {
        var isNew = !File.Exists(segment.Path);
        var file = SegmentHandle.OpenForWriting(segment);
        if (!isNew) return file;
        try
        {
            DurableFolder.Flush(folder);
            return file;
        }
        catch
        {
            file.Dispose();
            throw;
        }
    }

    private static long Write(SafeFileHandle file, long offset, IReadOnlyList<SegmentEntry> group)
    {
        var headers = ArrayPool<byte>.Shared.Rent(group.Count * SegmentRecord.HeaderBytes);
        try
        {
            var buffers = new ReadOnlyMemory<byte>[2 * group.Count];
            var end = offset;
            for (var i = 0; i < group.Count; i++)
            {
                var header = headers.AsMemory(i * SegmentRecord.HeaderBytes, SegmentRecord.HeaderBytes);
                SegmentRecord.WriteHeader(group[i].Payload.Span, header.Span);
                buffers[2 * i] = header;
                buffers[2 * i + 1] = group[i].Payload;
                end += group[i].Size;
            }

            RandomAccess.Write(file, buffers, offset);
            return end;
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(headers);
        }
    }
}
