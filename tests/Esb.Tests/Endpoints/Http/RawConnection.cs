using System.Net;
using System.Net.Sockets;
using System.Text;

namespace Esb.Tests.Endpoints.Http;

/// <summary>A connection on which a test writes what no client would.</summary>
internal sealed class RawConnection(Socket socket) : IDisposable
{
    private readonly Socket _socket = socket;

    public RawConnection()
        : this(new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true }) { }

    public static async Task<RawConnection> OpenAsync(int port, CancellationToken cancellationToken)
    {
        var connection = new RawConnection();
        await connection._socket.ConnectAsync(IPAddress.Loopback, port, cancellationToken);
        return connection;
    }

    public static async Task<string> AskAsync(int port, string request, CancellationToken cancellationToken)
    {
        using var connection = await OpenAsync(port, cancellationToken);
        await connection.WriteAsync(request, cancellationToken);
        return await connection.ReadToEndAsync(cancellationToken);
    }

    public async Task WriteAsync(string text, CancellationToken cancellationToken) =>
        await _socket.SendAsync(Encoding.Latin1.GetBytes(text), SocketFlags.None, cancellationToken);

    /// <summary>Everything until the other side closes the connection.</summary>
    public async Task<string> ReadToEndAsync(CancellationToken cancellationToken)
    {
        var text = new StringBuilder();
        while (await ReadAsync(cancellationToken) is { Length: > 0 } piece)
            text.Append(piece);
        return text.ToString();
    }

    /// <summary>Everything until a text has come.</summary>
    public async Task<string> ReadUntilAsync(string awaited, CancellationToken cancellationToken)
    {
        var text = "";
        while (!text.Contains(awaited, StringComparison.Ordinal) && await ReadAsync(cancellationToken) is { Length: > 0 } piece)
            text += piece;
        return text;
    }

    /// <summary>What has come until now, at least something; empty once the other side has closed the connection.</summary>
    public async Task<string> ReadAsync(CancellationToken cancellationToken)
    {
        var buffer = new byte[64 * 1024];
        try
        {
            return Encoding.Latin1.GetString(buffer, 0, await _socket.ReceiveAsync(buffer, SocketFlags.None, cancellationToken));
        }
        catch (SocketException ex) when (ex.SocketErrorCode == SocketError.ConnectionReset)
        {
            return "";
        }
    }

    /// <summary>Holds little of what was not read yet: what is read slowly comes slowly.</summary>
    public void Narrow() => _socket.ReceiveBufferSize = 128 * 1024;

    /// <summary>Says that nothing more comes, and goes on listening.</summary>
    public void FinishSending() => _socket.Shutdown(SocketShutdown.Send);

    /// <summary>Hangs up at once.</summary>
    public void Reset()
    {
        _socket.LingerState = new LingerOption(enable: true, seconds: 0);
        _socket.Close();
    }

    public void Dispose() => _socket.Dispose();
}
