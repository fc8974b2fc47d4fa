using System.Diagnostics;
using System.Net;
using System.Net.Sockets;
using System.Reflection;
using System.Text;
using Esb.Endpoints.Http.Relaying;

namespace Esb.Tests.Endpoints.Http;

/// <summary>A relay holds no bodies: what it allocates for a request does not grow with it.</summary>
[NonParallelizable]
public sealed class RelayAllocationTests
{
    private const int BytesOfRound = 16 * 1024 * 1024;

    // Code that was compiled in a hurry allocates more; a busy machine takes its time to compile it again.
    private static readonly TimeSpan LongestWarmUp = TimeSpan.FromSeconds(20);

    // Otherwise the compiler makes an object of each call of an asynchronous method, and bodies come in many pieces.
    private static readonly bool IsOptimized = typeof(HttpRelay).Assembly.GetCustomAttribute<DebuggableAttribute>()?.IsJITOptimizerDisabled != true;

    // Of the last one the server itself takes some, each time that it waits for one of the sockets.
    [TestCase(512, 6 * 1024), TestCase(10 * 1024, 6 * 1024), TestCase(100 * 1024, 6 * 1024), TestCase(1024 * 1024, 24 * 1024), CancelAfter(60_000)]
    public async Task Request_costs_little_whatever_its_size(int bodyBytes, int mostBytes, CancellationToken cancellationToken)
    {
        var request = Encoding.ASCII.GetBytes($"POST /in HTTP/1.1\r\nHost: bus\r\nContent-Type: text/xml; charset=utf-8\r\nX-Order: 1\r\nContent-Length: {bodyBytes}\r\n\r\n{new string('x', bodyBytes)}");
        var answer = Encoding.ASCII.GetBytes($"HTTP/1.1 200 OK\r\nServer: back\r\nContent-Type: text/xml\r\nETag: \"abc\"\r\nContent-Length: {bodyBytes}\r\n\r\n{new string('y', bodyBytes)}");
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        var serving = ServeAsync(listener, bodyBytes, answer, cancellationToken);
        await using (var bus = await StartAsync($"http://{listener.LocalEndpoint}/"))
        {
            using var client = new Socket(SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
            await client.ConnectAsync(IPAddress.Loopback, bus.Port, cancellationToken);
            bus.Log.IsOff = true;
            await AskAsync(client, request, bodyBytes, times: 50, cancellationToken);

            var most = IsOptimized ? mostBytes : mostBytes + (bodyBytes / 3);
            var (perRequest, started) = (long.MaxValue, Stopwatch.GetTimestamp());
            while (perRequest >= most && Stopwatch.GetElapsedTime(started) < LongestWarmUp) perRequest = Math.Min(perRequest, await MeasureAsync(client, request, bodyBytes, cancellationToken));

            TestContext.Out.WriteLine($"{bodyBytes} bytes: {perRequest} allocated for a request");
            Assert.That(perRequest, Is.LessThan(most));
        }

        await serving;
    }

    // Whatever else goes on in this process adds to it; the round with the least is nearest to the truth.
    private static async Task<long> MeasureAsync(Socket client, byte[] request, int bodyBytes, CancellationToken cancellationToken)
    {
        var requests = Math.Min(100, BytesOfRound / bodyBytes);
        var before = GC.GetTotalAllocatedBytes(precise: true);
        await AskAsync(client, request, bodyBytes, requests, cancellationToken);
        return (GC.GetTotalAllocatedBytes(precise: true) - before) / requests;
    }

    private static Task<HttpBus> StartAsync(string url) => new HttpBus().StartAsync(
        $$"""
         "in": { "type": "http-inbound", "path": "/in", "relay": "out", "rewriteHeaders": { "rename": { "X-Order": "X-Number" }, "set": { "X-Zone": "north" } } },
         "out": { "type": "http-outbound", "url": "{{url}}" }
         """);

    private static async Task AskAsync(Socket client, byte[] request, int bodyBytes, int times, CancellationToken cancellationToken)
    {
        var buffer = new byte[128 * 1024];
        for (var i = 0; i < times; i++)
        {
            for (var sent = 0; sent < request.Length;) sent += await client.SendAsync(request.AsMemory(sent), cancellationToken);
            await ReadAsync(client, buffer, bodyBytes, cancellationToken);
        }
    }

    private static async Task ServeAsync(TcpListener listener, int bodyBytes, byte[] answer, CancellationToken cancellationToken)
    {
        using var socket = await listener.AcceptSocketAsync(cancellationToken);
        socket.NoDelay = true;
        var buffer = new byte[128 * 1024];
        try
        {
            while (await ReadAsync(socket, buffer, bodyBytes, cancellationToken))
            {
                for (var sent = 0; sent < answer.Length;) sent += await socket.SendAsync(answer.AsMemory(sent), cancellationToken);
            }
        }
        catch (SocketException)
        {
            // the bus has gone
        }
    }

    // A head, and a body of the length; false at the end.
    private static async ValueTask<bool> ReadAsync(Socket socket, byte[] buffer, int bodyBytes, CancellationToken cancellationToken)
    {
        var (held, missing) = (0, long.MaxValue);
        while (missing > 0)
        {
            var read = await socket.ReceiveAsync(buffer.AsMemory(held), cancellationToken);
            if (read == 0) return false;
            if (missing == long.MaxValue)
            {
                held += read;
                var head = buffer.AsSpan(0, held).IndexOf("\r\n\r\n"u8);
                if (head < 0) continue;
                missing = bodyBytes - (held - head - 4);
                held = 0;
            }
            else
            {
                missing -= read;
            }
        }

        return true;
    }
}
