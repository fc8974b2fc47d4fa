using System.Net.Sockets;

namespace Esb.Endpoints.Http.Transport;

/// <summary>Reads and writes a <see cref="PolledSocket"/>, and closes it. Asynchronous only: a thread that waits for sockets must not
/// block. A token that is cancelled closes the socket.</summary>
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

    /// <exception cref="SocketException">The connection is broken.</exception>
    /// <exception cref="ObjectDisposedException">The socket was closed.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default) =>
        cancellationToken.CanBeCanceled ? ReadOrCloseAsync(buffer, cancellationToken) : socket.ReceiveAsync(buffer);

    public override Task<int> ReadAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken) =>
        ReadAsync(buffer.AsMemory(offset, count), cancellationToken).AsTask();

    /// <exception cref="SocketException">The connection is broken.</exception>
    /// <exception cref="ObjectDisposedException">The socket was closed.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    public override ValueTask WriteAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default) =>
        cancellationToken.CanBeCanceled ? WriteOrCloseAsync(buffer, cancellationToken) : socket.SendAsync(buffer);

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

    private async ValueTask<int> ReadOrCloseAsync(Memory<byte> buffer, CancellationToken cancellationToken)
    {
        using var leaving = cancellationToken.UnsafeRegister(static socket => ((PolledSocket)socket!).Dispose(), socket);
        try
        {
            return await socket.ReceiveAsync(buffer);
        }
        catch (ObjectDisposedException ex) when (cancellationToken.IsCancellationRequested)
        {
            throw new OperationCanceledException("Reading was given up.", ex, cancellationToken);
        }
    }

    private async ValueTask WriteOrCloseAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken)
    {
        using var leaving = cancellationToken.UnsafeRegister(static socket => ((PolledSocket)socket!).Dispose(), socket);
        try
        {
            await socket.SendAsync(buffer);
        }
        catch (ObjectDisposedException ex) when (cancellationToken.IsCancellationRequested)
        {
            throw new OperationCanceledException("Writing was given up.", ex, cancellationToken);
        }
    }
}
