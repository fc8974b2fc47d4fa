using System.Net;
using System.Net.Sockets;
using Esb.IntegrationTests.Faults.Farm;
using Esb.Tests;

namespace Esb.IntegrationTests.Faults.Network;

/// <summary>A TCP proxy in this process, for machines without Toxiproxy.</summary>
internal sealed class LocalProxy : INetworkProxy
{
    private readonly TcpListener _listener;
    private readonly CancellationTokenSource _stopping = new();
    private readonly Lock _lock = new();
    private readonly HashSet<LocalConnection> _connections = [];
    private readonly Task _accepting;
    private int _accepted;

    public LocalProxy(int serverPort)
    {
        ServerPort = serverPort;
        Port = FreePorts.Next();
        _listener = new TcpListener(IPAddress.Loopback, Port);
        _listener.Start();
        _accepting = AcceptAsync();
    }

    public int Port { get; }

    public int ServerPort { get; }

    /// <summary>The connections that were ever opened.</summary>
    public int Accepted => Volatile.Read(ref _accepted);

    private LocalWeather Weather { get; set; } = LocalWeather.Fine;

    public Task DelayAsync(TimeSpan latency, TimeSpan jitter) => ChangeAsync(LocalWeather.Fine with { Latency = latency, Jitter = jitter });

    public Task StallAsync() => ChangeAsync(LocalWeather.Fine with { HoldsToServer = true, HoldsFromServer = true });

    public Task DeafenAsync() => ChangeAsync(LocalWeather.Fine with { HoldsFromServer = true });

    public Task ResetAsync() => ChangeAsync(LocalWeather.Fine with { Resets = true });

    public Task CutAfterAsync(long bytes, bool fromServer) =>
        ChangeAsync(fromServer ? LocalWeather.Fine with { BytesFromServer = bytes } : LocalWeather.Fine with { BytesToServer = bytes });

    public Task HealAsync() => ChangeAsync(LocalWeather.Fine);

    public async ValueTask DisposeAsync()
    {
        await _stopping.CancelAsync();
        _listener.Stop();
        await _accepting;
        await ChangeAsync(LocalWeather.Fine with { Resets = true });
        _stopping.Dispose();
    }

    private async Task AcceptAsync()
    {
        try
        {
            while (true)
            {
                var client = await _listener.AcceptSocketAsync(_stopping.Token);
                Interlocked.Increment(ref _accepted);
                var connection = new LocalConnection(client, ServerPort, Weather);
                lock (_lock)
                    _connections.Add(connection);
                _ = connection.Ended.ContinueWith(_ => Forget(connection), TaskScheduler.Default);
            }
        }
        catch (OperationCanceledException)
        {
            // Disposed.
        }
    }

    private Task ChangeAsync(LocalWeather weather)
    {
        Weather = weather;
        lock (_lock)
        {
            foreach (var connection in _connections)
                connection.Change(weather);
        }

        return Task.CompletedTask;
    }

    private void Forget(LocalConnection connection)
    {
        lock (_lock)
            _connections.Remove(connection);
    }
}
