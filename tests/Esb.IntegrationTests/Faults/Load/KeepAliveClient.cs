using System.Globalization;
using System.Net;
using System.Net.Sockets;
using System.Text;

namespace Esb.IntegrationTests.Faults.Load;

/// <summary>Sends one request after the other over one connection, and looks at every byte that comes back.</summary>
internal sealed class KeepAliveClient(int port)
{
    private const string Request = "POST /work HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nhi";

    public int Complete { get; private set; }

    public int ClosedBefore { get; private set; }

    /// <summary>Answers that ended in the middle.</summary>
    public int Truncated { get; private set; }

    /// <summary>Goes on until the server takes no connection any more, or the token is cancelled.</summary>
    public async Task RunAsync(CancellationToken cancellationToken)
    {
        while (!cancellationToken.IsCancellationRequested)
        {
            using var socket = new Socket(SocketType.Stream, ProtocolType.Tcp);
            try
            {
                await socket.ConnectAsync(IPAddress.Loopback, port, cancellationToken);
            }
            catch (Exception ex) when (ex is SocketException or OperationCanceledException)
            {
                return;
            }

            while (await ExchangeAsync(socket) && !cancellationToken.IsCancellationRequested) { }
        }
    }

    // Whether the connection can be used again.
    private async Task<bool> ExchangeAsync(Socket socket)
    {
        var answer = new StringBuilder();
        var buffer = new byte[4_096];
        try
        {
            await socket.SendAsync(Encoding.ASCII.GetBytes(Request));
            while (!IsComplete(answer.ToString()))
            {
                var count = await socket.ReceiveAsync(buffer);
                if (count == 0)
                    break;
                answer.Append(Encoding.UTF8.GetString(buffer, 0, count));
            }
        }
        catch (SocketException)
        {
            // the same as a close
        }

        var text = answer.ToString();
        if (IsComplete(text))
            Complete++;
        else if (text.Length == 0)
            ClosedBefore++;
        else
            Truncated++;
        return IsComplete(text) && !text.Contains("Connection: close", StringComparison.OrdinalIgnoreCase);
    }

    private static bool IsComplete(string answer)
    {
        var end = answer.IndexOf("\r\n\r\n", StringComparison.Ordinal);
        if (end < 0 || !answer.StartsWith("HTTP/1.1 ", StringComparison.Ordinal))
            return false;
        var body = answer[(end + 4)..];
        var length = answer[..end]
            .Split("\r\n")
            .FirstOrDefault(line => line.StartsWith("Content-Length:", StringComparison.OrdinalIgnoreCase));
        return length is not null
            ? body.Length >= int.Parse(length.AsSpan(15).Trim(), CultureInfo.InvariantCulture)
            : body.EndsWith("0\r\n\r\n", StringComparison.Ordinal);
    }
}
