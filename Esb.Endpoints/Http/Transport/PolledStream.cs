using System.Net.Sockets;

namespace Esb.Endpoints.Http.Transport;

/// <summary>Reads and writes a <see cref="PolledSocket"/>, and closes it. Asynchronous only: a thread that waits for sockets must not
/// block. Tokens are not observed: disposing it ends what waits.</summary>
internal sealed class PolledStream(PolledSocket socket) : Stream
{
    public override bool CanRead => true;

    public override bool CanSeek => false;

    public override bool CanWrite => true;

    public override long Length => throw new NotSupportedException();

    public override long Position
    {
        get => throw new NotSupportedException();
        set => throw new NotSupportedException();
    }

    /// <inheritdoc cref="PolledSocket.ReadAnew"/>
    public void ReadAnew() => socket.ReadAnew();

    /// <exception cref="SocketException">The connection is broken.</exception>
    /// <exception cref="ObjectDisposedException">The socket was closed.</exception>
    public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default) =>
        socket.ReceiveAsync(buffer);

    public override Task<int> ReadAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken) =>
        ReadAsync(buffer.AsMemory(offset, count), cancellationToken).AsTask();

    /// <exception cref="SocketException">The connection is broken.</exception>
    /// <exception cref="ObjectDisposedException">The socket was closed.</exception>
    public override ValueTask WriteAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default) =>
        socket.SendAsync(buffer);

    public override Task WriteAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken) =>
        WriteAsync(buffer.AsMemory(offset, count), cancellationToken).AsTask();

    public override Task FlushAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public override void Flush()
    {
        // nothing is held back
    }

    public override int Read(byte[] buffer, int offset, int count) => throw new NotSupportedException();

    public override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException();

    public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

    public override void SetLength(long value) => throw new NotSupportedException();

    protected override void Dispose(bool disposing)
    {
        if (disposing)
            socket.Dispose();
        base.Dispose(disposing);
    }
}
