namespace Esb.Endpoints.Http.Decoding;

/// <summary>Passes reads on and keeps the last four bytes. Leaves the inner stream open.</summary>
internal sealed class TailStream(Stream inner) : Stream
{
    private readonly byte[] _last = new byte[4];

    /// <summary>The number of bytes read.</summary>
    public long Count { get; private set; }

    public ReadOnlySpan<byte> Last => _last;

    public override bool CanRead => true;

    public override bool CanSeek => false;

    public override bool CanWrite => false;

    public override long Length => throw new NotSupportedException();

    public override long Position
    {
        get => throw new NotSupportedException();
        set => throw new NotSupportedException();
    }

    public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        var read = await inner.ReadAsync(buffer, cancellationToken);
        Remember(buffer.Span[..read]);
        return read;
    }

    public override Task<int> ReadAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken) =>
        ReadAsync(buffer.AsMemory(offset, count), cancellationToken).AsTask();

    public override int Read(byte[] buffer, int offset, int count) => throw new NotSupportedException("Read asynchronously.");

    public override void Flush() { }

    public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

    public override void SetLength(long value) => throw new NotSupportedException();

    public override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException();

    private void Remember(ReadOnlySpan<byte> read)
    {
        Count += read.Length;
        var kept = Math.Min(read.Length, _last.Length);
        _last.AsSpan(kept).CopyTo(_last);
        read[^kept..].CopyTo(_last.AsSpan(_last.Length - kept));
    }
}
