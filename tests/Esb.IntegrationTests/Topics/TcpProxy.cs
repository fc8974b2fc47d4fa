using System.Net;
using System.Net.Sockets;

namespace Esb.IntegrationTests.Topics;

/// <summary>A connection to a server that a test can cut, as a killed process would, or let fall silent, as a frozen one would.</summary>
internal sealed class TcpProxy : IAsyncDisposable
{
    private readonly TcpListener _listener = new(IPAddress.Loopback, 0);
    private readonly IPEndPoint _target;
    private readonly CancellationTokenSource _stopping = new();
    private readonly List<Socket> _sockets = [];
    private readonly Task _accepting;
    private TaskCompletionSource _flowing = new();
    private int _connections;

    public TcpProxy(Uri target)
    {
        _target = new IPEndPoint(IPAddress.Parse(target.Host), target.Port);
        _flowing.SetResult();
        _listener.Start();
        _accepting = AcceptAsync();
        Address = new UriBuilder(target) { Host = "127.0.0.1", Port = ((IPEndPoint)_listener.LocalEndpoint).Port }.Uri;
    }

    public Uri Address { get; }

    /// <summary>How many were opened so far.</summary>
    public int Connections => Volatile.Read(ref _connections);

    /// <summary>Nothing gets through any more, in either direction; the connections stay.</summary>
    public void Silence() => _flowing = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);

    /// <summary>Lets everything through that was held.</summary>
    public void Resume() => _flowing.TrySetResult();

    /// <summary>Cuts all connections and takes no others.</summary>
    public void Cut()
    {
        _listener.Stop();
        lock (_sockets)
            _sockets.ForEach(socket => socket.Close(0));
    }

    public async ValueTask DisposeAsync()
    {
        await _stopping.CancelAsync();
        Resume();
        Cut();
        await _accepting;
    }

    private async Task AcceptAsync()
    {
        var relays = new List<Task>();
        try
        {
            while (true)
            {
                var client = await _listener.AcceptSocketAsync(_stopping.Token);
                Interlocked.Increment(ref _connections);
                var server = new Socket(SocketType.Stream, ProtocolType.Tcp);
                lock (_sockets)
                    _sockets.AddRange([client, server]);
                await server.ConnectAsync(_target, _stopping.Token);
                relays.AddRange([RelayAsync(client, server), RelayAsync(server, client)]);
            }
        }
        catch (Exception ex) when (ex is OperationCanceledException or SocketException or ObjectDisposedException)
        {
            await Task.WhenAll(relays);
        }
    }

    private async Task RelayAsync(Socket from, Socket to)
    {
        var buffer = new byte[64 * 1024];
        try
        {
            for (int read; (read = await from.ReceiveAsync(buffer, _stopping.Token)) > 0; )
            {
                await _flowing.Task;
                await to.SendAsync(buffer.AsMemory(0, read), _stopping.Token);
            }
        }
        catch (Exception ex) when (ex is OperationCanceledException or SocketException or ObjectDisposedException)
        {
            // Cut.
        }

        from.Close(0);
        to.Close(0);
    }
}
