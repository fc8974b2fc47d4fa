using System.Net.Sockets;

namespace Esb.Topics.RabbitMq;

/// <summary>The stream that the client reads and writes: the bytes of the broker, with header values that nest no deeper than the client
/// can parse.</summary>
/// <param name="socket">The client requires a stream of a socket, and sets its time-outs on the socket.</param>
/// <param name="inner">The bytes of that socket, or the bytes within its TLS connection.</param>
internal sealed class BrokerStream(Socket socket, Stream inner) : NetworkStream(socket)
{
    private readonly HeaderDepthLimiter _limiter = new();

    public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        var read = await inner.ReadAsync(buffer, cancellationToken);
        if (read == 0 && buffer.Length > 0)
            throw new EndOfStreamException("The broker closed the connection."); // TLS reports no failure
        _limiter.Pass(buffer.Span[..read]);
        return read;
    }

    public override Task<int> ReadAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken) =>
        ReadAsync(buffer.AsMemory(offset, count), cancellationToken).AsTask();

    public override int Read(Span<byte> buffer) => throw new NotSupportedException("The client reads asynchronously.");

    public override int Read(byte[] buffer, int offset, int count) => Read(buffer.AsSpan(offset, count));

    public override ValueTask WriteAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default) =>
        inner.WriteAsync(buffer, cancellationToken);

    public override Task WriteAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken) =>
        WriteAsync(buffer.AsMemory(offset, count), cancellationToken).AsTask();

    public override void Write(ReadOnlySpan<byte> buffer) => inner.Write(buffer);

    public override void Write(byte[] buffer, int offset, int count) => inner.Write(buffer, offset, count);

    public override Task FlushAsync(CancellationToken cancellationToken) => inner.FlushAsync(cancellationToken);

    public override void Flush() => inner.Flush();

    protected override void Dispose(bool disposing)
    {
        if (disposing)
            inner.Dispose();
        base.Dispose(disposing);
    }
}
