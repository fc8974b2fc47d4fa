using System.Diagnostics;
using System.Diagnostics.Tracing;
using System.Net;
using System.Net.Sockets;
using System.Reflection;
using System.Text;
using Esb.Endpoints.Http.Relaying;

namespace Esb.Tests.Endpoints.Http.Relaying;

/// <summary>A relay holds no bodies: what it allocates for a request does not grow with it.</summary>
[NonParallelizable]
public sealed class RelayAllocationTests
{
    private const int BytesOfRound = 16 * 1024 * 1024;

    // Code that was compiled in a hurry allocates more; a busy machine takes its time to compile it again.
    private static readonly TimeSpan LongestWarmUp = TimeSpan.FromSeconds(20);

    // Otherwise the compiler makes an object of each call of an asynchronous method, and bodies come in many pieces.
    private static readonly bool IsOptimized =
        typeof(HttpRelay).Assembly.GetCustomAttribute<DebuggableAttribute>()?.IsJITOptimizerDisabled != true;

    // Of the last one the server itself takes some, each time that it waits for one of the sockets.
    [
        TestCase(512, 6 * 1024),
        TestCase(10 * 1024, 6 * 1024),
        TestCase(100 * 1024, 6 * 1024),
        TestCase(1024 * 1024, 24 * 1024),
        CancelAfter(60_000)
    ]
    public Task Request_costs_little_whatever_its_size(int bodyBytes, int mostBytes, CancellationToken cancellationToken) =>
        CostsLessAsync(callers: 1, bodyBytes, mostBytes, cancellationToken);

    // They come and go together: the pool of the platform does not keep so many arrays.
    [Test, CancelAfter(60_000)]
    public Task Request_costs_no_more_among_a_hundred(CancellationToken cancellationToken) =>
        CostsLessAsync(callers: 100, bodyBytes: 1024, mostBytes: 6 * 1024, cancellationToken);

    [TestCase(100 * 1024), TestCase(1024 * 1024), CancelAfter(60_000)]
    public Task Large_bodies_make_no_large_objects(int bodyBytes, CancellationToken cancellationToken) =>
        RunAsync(
            callers: 1,
            bodyBytes,
            async askAsync =>
            {
                using var large = new LargeObjects();
                await large.FollowAsync(cancellationToken);
                var least = await LeastAsync(() => large.Count, () => AskAsync(), below: 1);
                GC.KeepAlive(new byte[bodyBytes]);
                await large.FollowAsync(cancellationToken);

                Assert.That(least, Is.Zero);
                Assert.That(large.Count, Is.Positive, "it counts");

                async Task AskAsync()
                {
                    await askAsync(BytesOfRound / bodyBytes);
                    await large.FollowAsync(cancellationToken);
                }
            },
            cancellationToken
        );

    private static Task CostsLessAsync(int callers, int bodyBytes, int mostBytes, CancellationToken cancellationToken) =>
        RunAsync(
            callers,
            bodyBytes,
            async askAsync =>
            {
                var (times, most) = (Math.Min(100, BytesOfRound / bodyBytes), IsOptimized ? mostBytes : mostBytes + (bodyBytes / 3));
                var requests = times * callers;

                var perRequest =
                    await LeastAsync(() => GC.GetTotalAllocatedBytes(precise: true), () => askAsync(times), below: (long)most * requests)
                    / requests;

                TestContext.Out.WriteLine($"{bodyBytes} bytes: {perRequest} allocated for a request");
                Assert.That(perRequest, Is.LessThan(most));
            },
            cancellationToken
        );

    // Callers ask as often as the measurement says.
    private static async Task RunAsync(int callers, int bodyBytes, Func<Func<int, Task>, Task> measure, CancellationToken cancellationToken)
    {
        var request = Encoding.ASCII.GetBytes(
            $"POST /in HTTP/1.1\r\nHost: bus\r\nContent-Type: text/xml; charset=utf-8\r\nX-Order: 1\r\nContent-Length: "
                + $"{bodyBytes}\r\n\r\n{new string('x', bodyBytes)}"
        );
        var answer = Encoding.ASCII.GetBytes(
            $"HTTP/1.1 200 OK\r\nServer: back\r\nContent-Type: text/xml\r\nETag: \"abc\"\r\nContent-Length: "
                + $"{bodyBytes}\r\n\r\n{new string('y', bodyBytes)}"
        );
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        var serving = ServeAsync(listener, callers, bodyBytes, answer, cancellationToken);
        await using (var bus = await StartAsync($"http://{listener.LocalEndpoint}/", callers))
        {
            var clients = await ConnectAsync(bus.Port, callers, cancellationToken);
            bus.Log.IsOff = true;
            await AskAsync(clients, request, bodyBytes, times: 50, cancellationToken);
            await measure(times => AskAsync(clients, request, bodyBytes, times, cancellationToken));
            foreach (var client in clients)
                client.Dispose();
        }

        await serving;
    }

    // Whatever else goes on in this process adds to it; the round with the least is nearest to the truth.
    private static async Task<long> LeastAsync(Func<long> count, Func<Task> roundAsync, long below)
    {
        var (least, started) = (long.MaxValue, Stopwatch.GetTimestamp());
        while (least >= below && Stopwatch.GetElapsedTime(started) < LongestWarmUp)
        {
            var before = count();
            await roundAsync();
            least = Math.Min(least, count() - before);
        }

        return least;
    }

    private static Task<HttpBus> StartAsync(string url, int poolSize) =>
        new HttpBus().StartAsync(
            $$"""
            "in": { "type": "http-inbound", "path": "/in", "relay": "out", "rewriteHeaders": { "rename": { "X-Order": "X-Number" }, "set": { "X-Zone": "north" } } },
            "out": { "type": "http-outbound", "url": "{{url}}", "poolSize": {{poolSize}} }
            """
        );

    private static async Task<Socket[]> ConnectAsync(int port, int count, CancellationToken cancellationToken)
    {
        var clients = new Socket[count];
        for (var i = 0; i < count; i++)
        {
            clients[i] = new Socket(SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
            await clients[i].ConnectAsync(IPAddress.Loopback, port, cancellationToken);
        }

        return clients;
    }

    private static Task AskAsync(Socket[] clients, byte[] request, int bodyBytes, int times, CancellationToken cancellationToken) =>
        Task.WhenAll(clients.Select(client => AskAsync(client, request, bodyBytes, times, cancellationToken)));

    private static async Task AskAsync(Socket client, byte[] request, int bodyBytes, int times, CancellationToken cancellationToken)
    {
        var buffer = new byte[64 * 1024]; // no large object
        for (var i = 0; i < times; i++)
        {
            for (var sent = 0; sent < request.Length; )
                sent += await client.SendAsync(request.AsMemory(sent), cancellationToken);
            await ReadAsync(client, buffer, bodyBytes, cancellationToken);
        }
    }

    // All are answered together, when the last of them has asked.
    private static async Task ServeAsync(
        TcpListener listener,
        int callers,
        int bodyBytes,
        byte[] answer,
        CancellationToken cancellationToken
    )
    {
        var sockets = new Socket[callers];
        for (var i = 0; i < callers; i++)
            sockets[i] = await listener.AcceptSocketAsync(cancellationToken);
        var buffer = new byte[128 * 1024];
        try
        {
            while (true)
            {
                foreach (var socket in sockets)
                {
                    if (!await ReadAsync(socket, buffer, bodyBytes, cancellationToken))
                        return;
                }

                foreach (var socket in sockets)
                {
                    for (var sent = 0; sent < answer.Length; )
                        sent += await socket.SendAsync(answer.AsMemory(sent), cancellationToken);
                }
            }
        }
        catch (SocketException)
        {
            // the bus has gone
        }
        finally
        {
            foreach (var socket in sockets)
                socket.Dispose();
        }
    }

    // A head, and a body of the length; false at the end.
    private static async ValueTask<bool> ReadAsync(Socket socket, byte[] buffer, int bodyBytes, CancellationToken cancellationToken)
    {
        var (held, missing) = (0, long.MaxValue);
        while (missing > 0)
        {
            var read = await socket.ReceiveAsync(buffer.AsMemory(held), cancellationToken);
            if (read == 0)
                return false;
            if (missing == long.MaxValue)
            {
                held += read;
                var head = buffer.AsSpan(0, held).IndexOf("\r\n\r\n"u8);
                if (head < 0)
                    continue;
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

    // Of this process; the runtime tells of each that is larger than 100 KB, and of many smaller ones.
    // Event and payload:
    // https://learn.microsoft.com/dotnet/fundamentals/diagnostics/runtime-garbage-collection-events#gcallocationtick_v3-event
    private sealed class LargeObjects : EventListener
    {
        private const EventKeywords Collector = (EventKeywords)1;
        private const uint Large = 1;
        private const int MarkBytes = 3_141_592;

        private long _count;
        private long _marks;

        public long Count => Interlocked.Read(ref _count);

        /// <summary>Returns once all have been told of that were made before: they are told in order, some time later.</summary>
        public async Task FollowAsync(CancellationToken cancellationToken)
        {
            var before = Interlocked.Read(ref _marks);
            GC.KeepAlive(new byte[MarkBytes]);
            while (Interlocked.Read(ref _marks) == before)
                await Task.Delay(5, cancellationToken);
        }

        protected override void OnEventSourceCreated(EventSource eventSource)
        {
            if (eventSource.Name == "Microsoft-Windows-DotNETRuntime")
                EnableEvents(eventSource, EventLevel.Verbose, Collector);
        }

        protected override void OnEventWritten(EventWrittenEventArgs eventData)
        {
            if (
                eventData.EventName?.StartsWith("GCAllocationTick", StringComparison.Ordinal) != true
                || ValueOf(eventData, "AllocationKind") is not Large
            )
                return;
            if (ValueOf(eventData, "ObjectSize") is ulong and >= MarkBytes and < MarkBytes + 100)
                Interlocked.Increment(ref _marks);
            else
                Interlocked.Increment(ref _count);
        }

        private static object? ValueOf(EventWrittenEventArgs told, string name) => told.Payload![told.PayloadNames!.IndexOf(name)];
    }
}
