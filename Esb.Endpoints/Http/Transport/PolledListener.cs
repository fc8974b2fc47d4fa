using System.Buffers;
using System.Net;
using System.Net.Sockets;
using Microsoft.AspNetCore.Connections;

namespace Esb.Endpoints.Http.Transport;

/// <summary>Accepts connections at one address.</summary>
internal sealed class PolledListener(Socket socket, MemoryPool<byte> memory) : IConnectionListener
{
    public EndPoint EndPoint { get; } = socket.LocalEndPoint!;

    /// <returns>The next connection; null once the listener is closed.</returns>
    public async ValueTask<ConnectionContext?> AcceptAsync(CancellationToken cancellationToken = default)
    {
        while (true)
        {
            Socket? accepted = null;
            try
            {
                accepted = await socket.AcceptAsync(cancellationToken);
                accepted.NoDelay = true;
                var connection = new PolledConnection(PolledSocket.Of(accepted), memory);
                connection.Start();
                return connection;
            }
            catch (Exception ex) when (ex is ObjectDisposedException or SocketException { SocketErrorCode: SocketError.OperationAborted })
            {
                accepted?.Dispose();
                return null;
            }
            catch (SocketException)
            {
                accepted?.Dispose(); // its caller is gone already, or the system has no memory for it
            }
        }
    }

    public ValueTask UnbindAsync(CancellationToken cancellationToken = default)
    {
        socket.Dispose();
        return ValueTask.CompletedTask;
    }

    public ValueTask DisposeAsync() => UnbindAsync();
}
