using Esb.Core.Storage;
using Microsoft.Win32.SafeHandles;

namespace Esb.Storage.Segments;

/// <summary>Writes records to the last segment of a folder, and to a new one once the last is complete. Not thread-safe, except that
/// <see cref="Unflushed.FlushToDisk"/> may run beside writes.</summary>
/// <param name="folder">The folder.</param>
/// <param name="start">The position behind the last durable record.</param>
/// <param name="options">A segment that has grown to its maximum gets no further batch.</param>
internal sealed class SegmentWriter(string folder, SegmentPosition start, SegmentOptions options) : IDisposable
{
    private readonly List<SafeFileHandle> _complete = [];
    private SafeFileHandle? _file;
    private SegmentPosition _position = start;

    /// <summary>The position behind the last record that was written.</summary>
    public SegmentPosition Position => _position;

    /// <summary>The files with records that may not be flushed.</summary>
    public Unflushed Files => new([.. _complete], _file, options.Flush);

    /// <summary>Writes records; flushes nothing.</summary>
    /// <returns>The position behind the last record.</returns>
    /// <exception cref="IOException">They could not be written; what was written before stays as it is.</exception>
    /// <exception cref="UnauthorizedAccessException">The same.</exception>
    public SegmentPosition Write(ReadOnlySpan<byte> records)
    {
        if (_position.Offset >= options.MaxSegmentBytes)
            MoveOn();
        _file ??= Open(new SegmentFile(folder, _position.Segment));
        try
        {
            RandomAccess.Write(_file, records, _position.Offset);
        }
        catch
        {
            Cut(_file);
            throw;
        }

        return _position = _position with { Offset = _position.Offset + records.Length };
    }

    /// <summary>Closes segments that are complete and flushed.</summary>
    public void Close(Unflushed flushed)
    {
        foreach (var file in flushed.Complete)
        {
            _complete.Remove(file);
            file.Dispose();
        }
    }

    /// <summary>Abandons what was written behind a position after a failed flush: its content on disk is unknown, and a second flush would
    /// not tell. The next records go to a new segment.</summary>
    /// <param name="flushed">The position behind the last flushed record.</param>
    /// <returns>The error of truncating the unfinished records; null if there was none. Readers skip them where they are damaged.</returns>
    public Exception? Abandon(SegmentPosition flushed)
    {
        Dispose();
        var last = _position;
        _position = new SegmentPosition(last.Segment + 1, 0); // a number is never used again: an index may know what was there
        try
        {
            for (var number = flushed.Segment + 1; number <= last.Segment; number++)
                new SegmentFile(folder, number).Delete();
            var segment = new SegmentFile(folder, flushed.Segment);
            if (flushed.Offset == 0)
                segment.Delete();
            else
                using (var file = SegmentHandle.OpenForWriting(segment))
                    RandomAccess.SetLength(file, flushed.Offset);
            return null;
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
        {
            return ex;
        }
    }

    public void Dispose()
    {
        foreach (var file in _complete)
            file.Dispose();
        _complete.Clear();
        _file?.Dispose();
        _file = null;
    }

    private void MoveOn()
    {
        if (_file is not null)
            _complete.Add(_file);
        _file = null;
        _position = new SegmentPosition(_position.Segment + 1, 0);
    }

    // Takes back an unfinished write. Where even that fails, the next write overwrites it, and readers skip what is left.
    private void Cut(SafeFileHandle file)
    {
        try
        {
            if (_position.Offset > 0)
            {
                RandomAccess.SetLength(file, _position.Offset);
                return;
            }

            file.Dispose();
            _file = null;
            new SegmentFile(folder, _position.Segment).Delete(); // it holds nothing
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
        {
            // The failure of the write itself is reported.
        }
    }

    private SafeFileHandle Open(SegmentFile segment)
    {
        var isNew = !File.Exists(segment.Path);
        var file = SegmentHandle.OpenForWriting(segment);
        if (!isNew)
            return file;
        try
        {
            DurableFolder.Flush(folder);
            return file;
        }
        catch
        {
            file.Dispose();
            segment.Delete(); // the next attempt has to flush the folder again
            throw;
        }
    }

    /// <summary>Files with records that may not be flushed.</summary>
    /// <param name="Complete">Segments that grow no more.</param>
    /// <param name="Growing">The last segment; null if it is not open.</param>
    /// <param name="Flush">Flushes one.</param>
    internal readonly record struct Unflushed(SafeFileHandle[] Complete, SafeFileHandle? Growing, Action<SafeFileHandle> Flush)
    {
        public void FlushToDisk()
        {
            foreach (var file in Complete)
                Flush(file);
            if (Growing is not null)
                Flush(Growing);
        }
    }
}
