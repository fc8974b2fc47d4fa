using System.Buffers;
using System.Net;
using System.Net.Sockets;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Server.Kestrel.Transport.Sockets;

namespace Esb.Endpoints.Http.Transport;

/// <summary>Accepts connections whose sockets belong to <see cref="PollingThread"/>s.</summary>
/// <param name="backlog">The most connections that wait to be accepted.</param>
/// <param name="memory">The memory of the connections.</param>
internal sealed class PolledTransport(int backlog, MemoryPool<byte> memory) : IConnectionListenerFactory
{
    /// <exception cref="AddressInUseException">Another socket listens there.</exception>
    /// <exception cref="SocketException">The address does not belong to this machine.</exception>
    public ValueTask<IConnectionListener> BindAsync(EndPoint endpoint, CancellationToken cancellationToken = default)
    {
        Socket? socket = null;
        try
        {
            socket = SocketTransportOptions.CreateDefaultBoundListenSocket(endpoint);
            socket.Listen(backlog);
            return new(new PolledListener(socket, memory));
        }
        catch (SocketException ex) when (ex.SocketErrorCode == SocketError.AddressAlreadyInUse)
        {
            socket?.Dispose();
            throw new AddressInUseException(ex.Message, ex);
        }
    }
}
