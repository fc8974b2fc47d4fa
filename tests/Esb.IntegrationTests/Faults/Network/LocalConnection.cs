using System.Net;
using System.Net.Sockets;

namespace Esb.IntegrationTests.Faults.Network;

/// <summary>One connection through a <see cref="LocalProxy"/>: two pumps, in whatever weather.</summary>
internal sealed class LocalConnection
{
    private readonly Socket _client;
    private readonly Socket _server = new(SocketType.Stream, ProtocolType.Tcp);
    private volatile LocalWeather _weather;

    public LocalConnection(Socket client, int serverPort, LocalWeather weather)
    {
        (_client, _weather) = (client, weather);
        Ended = RunAsync(serverPort);
    }

    public Task Ended { get; }

    public void Change(LocalWeather weather)
    {
        _weather = weather;
        if (weather.Resets)
            Reset();
    }

    private async Task RunAsync(int serverPort)
    {
        try
        {
            if (_weather.Resets)
                return;
            await _server.ConnectAsync(IPAddress.Loopback, serverPort);
            await Task.WhenAny(PumpAsync(_client, _server, isToServer: true), PumpAsync(_server, _client, isToServer: false));
        }
        catch (SocketException)
        {
            // the server is away: so are we
        }
        finally
        {
            Reset();
        }
    }

    private async Task PumpAsync(Socket from, Socket to, bool isToServer)
    {
        var buffer = new byte[16 * 1024];
        var (before, passed) = (_weather, 0L);
        try
        {
            while (await from.ReceiveAsync(buffer) is > 0 and var count)
            {
                var weather = _weather;
                if (!ReferenceEquals(weather, before))
                    (before, passed) = (weather, 0);
                var limit = isToServer ? weather.BytesToServer : weather.BytesFromServer;
                var length = (int)Math.Min(count, (limit ?? long.MaxValue) - passed);
                await HoldAsync(weather, isToServer);
                await to.SendAsync(buffer.AsMemory(0, length));
                passed += length;
                if (passed >= limit)
                    return;
            }
        }
        catch (Exception ex) when (ex is SocketException or ObjectDisposedException)
        {
            // the other pump ended, or one of the two sides
        }
    }

    private async Task HoldAsync(LocalWeather weather, bool isToServer)
    {
        while (ReferenceEquals(weather, _weather) && (isToServer ? weather.HoldsToServer : weather.HoldsFromServer))
            await Task.Delay(20);
        if (weather.Latency > TimeSpan.Zero)
            await Task.Delay(weather.Latency + (weather.Jitter * Random.Shared.NextDouble()));
    }

    private void Reset()
    {
        try
        {
            _client.LingerState = new LingerOption(enable: true, seconds: 0); // a reset, not a close
        }
        catch (ObjectDisposedException)
        {
            // It has ended by itself meanwhile.
        }

        _client.Dispose();
        _server.Dispose();
    }
}
