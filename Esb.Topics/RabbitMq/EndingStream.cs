using System.Net.Sockets;

namespace Esb.Topics.RabbitMq;

/// <summary>The bytes of a socket; fails when the peer has closed the connection.</summary>
/// <remarks>
/// If that happens within a frame (a broker that is killed while it delivers), the client (7.2.2, <c>InboundFrame.ReadFromPipeAsync</c>)
/// loops over the bytes that it has read until the heartbeat fails: half a minute of one core, with all its publishes hanging.
/// </remarks>
internal sealed class EndingStream(Socket socket) : NetworkStream(socket)
{
    public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        var read = await base.ReadAsync(buffer, cancellationToken);
        return read > 0 || buffer.Length == 0 ? read : throw new EndOfStreamException("The broker closed the connection.");
    }
}
