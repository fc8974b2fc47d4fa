using Microsoft.Win32.SafeHandles;

namespace Esb.Storage.Segments;

/// <summary>Reads a file in large pieces and shows any part of it. Not thread-safe.</summary>
internal sealed class SegmentWindow(SafeFileHandle file, long end, int pieceBytes = 256 * 1024)
{
    private byte[] _buffer = new byte[pieceBytes];
    private long _start;
    private int _count;

    /// <summary>The bytes at an offset, fewer where the file ends; valid until the next call.</summary>
    public ReadOnlyMemory<byte> At(long offset, int count)
    {
        count = (int)Math.Min(count, end - offset);
        if (offset < _start || offset + count > _start + _count)
            Fill(offset, count);
        var skipped = (int)(offset - _start);
        return _buffer.AsMemory(skipped, Math.Min(count, _count - skipped));
    }

    private void Fill(long offset, int count)
    {
        if (count > _buffer.Length)
            _buffer = new byte[count];
        _start = offset;
        _count = 0;
        var wanted = (int)Math.Min(_buffer.Length, end - offset);
        while (_count < wanted && RandomAccess.Read(file, _buffer.AsSpan(_count, wanted - _count), offset + _count) is > 0 and var read)
            _count += read;
    }
}
