using System.Net;
using System.Net.Sockets;

namespace Esb.Tests.Endpoints.Http;

/// <summary>A server of the outside that reads and writes bytes as a test says, on a free port of this machine.</summary>
internal sealed class RawBackend : IAsyncDisposable
{
    private readonly TcpListener _listener = new(IPAddress.Loopback, 0);
    private readonly CancellationTokenSource _stopping = new();
    private readonly Task _accepting;
    private int _connections;

    /// <param name="serve">What is done on each connection, which has its number, from 1.</param>
    public RawBackend(Func<RawConnection, int, CancellationToken, Task> serve)
    {
        _listener.Start();
        _accepting = AcceptAsync(serve);
    }

    public string Url => $"http://127.0.0.1:{((IPEndPoint)_listener.LocalEndpoint).Port}/backend";

    public int Connections => Volatile.Read(ref _connections);

    /// <summary>One that answers each request on a connection, once its head and what is awaited behind it have come, with the same
    /// bytes.</summary>
    public static RawBackend Answering(string answer, string awaited = "\r\n\r\n") =>
        new(
            async (connection, _, cancellationToken) =>
            {
                while ((await connection.ReadUntilAsync(awaited, cancellationToken)).Length > 0)
                    await connection.WriteAsync(answer, cancellationToken);
            }
        );

    public async ValueTask DisposeAsync()
    {
        await _stopping.CancelAsync();
        _listener.Stop();
        await _accepting;
        _stopping.Dispose();
    }

    private async Task AcceptAsync(Func<RawConnection, int, CancellationToken, Task> serve)
    {
        var served = new List<Task>();
        try
        {
            while (true)
            {
                var socket = await _listener.AcceptSocketAsync(_stopping.Token);
                served.Add(ServeAsync(new RawConnection(socket), Interlocked.Increment(ref _connections), serve));
            }
        }
        catch (Exception ex)
            when (ex is OperationCanceledException or SocketException or ObjectDisposedException or InvalidOperationException) // stopped
        {
            await Task.WhenAll(served);
        }
    }

    private async Task ServeAsync(RawConnection connection, int number, Func<RawConnection, int, CancellationToken, Task> serve)
    {
        using (connection)
        {
            try
            {
                await serve(connection, number, _stopping.Token);
            }
            catch (Exception ex) when (ex is OperationCanceledException or SocketException)
            {
                // the test is over, or the other side has gone
            }
        }
    }
}
