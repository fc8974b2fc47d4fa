namespace Esb.Tests.Content.Splitting;

/// <summary>A stream that is made while it is read, of pieces that a function makes by their number; null ends it.</summary>
/// <param name="make">Makes a piece.</param>
/// <param name="mostAtOnce">The most bytes that one read gives.</param>
internal sealed class GeneratedStream(Func<int, byte[]?> make, int mostAtOnce = int.MaxValue) : Stream
{
    private ReadOnlyMemory<byte> _piece;
    private int _next;

    /// <summary>How much was read.</summary>
    public long BytesRead { get; private set; }

    public bool IsDisposed { get; private set; }

    public override bool CanRead => true;

    public override bool CanSeek => false;

    public override bool CanWrite => false;

    public override long Length => throw new NotSupportedException();

    public override long Position
    {
        get => BytesRead;
        set => throw new NotSupportedException();
    }

    public static GeneratedStream Of(byte[] bytes, int mostAtOnce) => new(number => number == 0 ? bytes : null, mostAtOnce);

    public override int Read(Span<byte> buffer)
    {
        while (_piece.IsEmpty)
        {
            if (make(_next++) is not { } piece)
                return 0;
            _piece = piece;
        }

        var count = Math.Min(Math.Min(buffer.Length, mostAtOnce), _piece.Length);
        _piece.Span[..count].CopyTo(buffer);
        _piece = _piece[count..];
        BytesRead += count;
        return count;
    }

    public override int Read(byte[] buffer, int offset, int count) => Read(buffer.AsSpan(offset, count));

    public override void Flush() { }

    public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

    public override void SetLength(long value) => throw new NotSupportedException();

    public override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException();

    protected override void Dispose(bool disposing)
    {
        IsDisposed = true;
        base.Dispose(disposing);
    }
}
