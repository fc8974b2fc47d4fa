using System.Net;
using System.Net.Sockets;
using System.Security.Cryptography;
using Esb.Endpoints.Http.Outside;
using Esb.Endpoints.Http.Transport;

namespace Esb.Tests.Endpoints.Http.Transport;

/// <summary>The sockets of relays and listeners, against sockets of the platform.</summary>
[CancelAfter(60_000), Platform("Linux")]
public sealed class PolledSocketTests
{
    private Socket _listening = null!;

    [SetUp]
    public void Listen()
    {
        _listening = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        _listening.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        _listening.Listen(1);
    }

    [TearDown]
    public void StopListening() => _listening.Dispose();

    [Test]
    public async Task Bytes_arrive_whole_when_both_sides_send_more_than_the_system_holds(CancellationToken cancellationToken)
    {
        var (polled, other) = await ConnectAsync(cancellationToken);
        using var near = polled;
        await using var far = new NetworkStream(other, ownsSocket: true);
        var bytes = RandomNumberGenerator.GetBytes(32 << 20); // more than any buffer of a socket

        var sending = polled.SendAsync(bytes).AsTask();
        Assert.That(sending.IsCompleted, Is.False, "nobody has read yet");
        var answering = far.WriteAsync(bytes, cancellationToken).AsTask();
        var (there, back) = (new byte[bytes.Length], new byte[bytes.Length]);
        var reading = far.ReadExactlyAsync(there, cancellationToken).AsTask();
        for (var total = 0; total < back.Length; )
            total += await polled.ReceiveAsync(back.AsMemory(total));
        await Task.WhenAll(sending, answering, reading);

        Assert.That(there.AsSpan().SequenceEqual(bytes), Is.True);
        Assert.That(back.AsSpan().SequenceEqual(bytes), Is.True);
    }

    [Test]
    public async Task End_of_the_stream_is_read_as_no_bytes_behind_the_last_ones(CancellationToken cancellationToken)
    {
        var (polled, other) = await ConnectAsync(cancellationToken);
        using var near = polled;
        other.Send([1, 2, 3]);
        other.Dispose();
        var buffer = new byte[16];

        Assert.That(await polled.ReceiveAsync(buffer), Is.EqualTo(3));
        Assert.That(await polled.ReceiveAsync(buffer), Is.Zero);
        Assert.That(await polled.ReceiveAsync(buffer), Is.Zero);
    }

    [Test]
    public async Task End_that_comes_together_with_bytes_is_read_behind_them(CancellationToken cancellationToken)
    {
        for (var round = 0; round < 200; round++)
        {
            var (polled, other) = await ConnectAsync(cancellationToken);
            using var near = polled;
            var reading = polled.ReceiveAsync(new byte[16]).AsTask();
            other.Send([1]);
            other.Dispose();

            Assert.That(await reading, Is.EqualTo(1));
            Assert.That(await polled.ReceiveAsync(new byte[16]), Is.Zero);
        }
    }

    [Test]
    public async Task Reset_fails_the_reader_that_waits(CancellationToken cancellationToken)
    {
        var (polled, other) = await ConnectAsync(cancellationToken);
        using var near = polled;
        var reading = polled.ReceiveAsync(new byte[16]).AsTask();
        other.LingerState = new LingerOption(true, 0);
        other.Dispose();

        var failure = Assert.ThrowsAsync<SocketException>(() => reading);
        Assert.That(failure!.SocketErrorCode, Is.EqualTo(SocketError.ConnectionReset));
    }

    [Test]
    public async Task Closing_ends_what_waits_and_never_continues_it_on_the_thread_that_closes(CancellationToken cancellationToken)
    {
        var (polled, other) = await ConnectAsync(cancellationToken);
        using var far = other;
        var sending = polled.SendAsync(new byte[32 << 20]).AsTask();
        var reading = NoteThreadAsync(polled);
        var closing = Environment.CurrentManagedThreadId;

        polled.Dispose();
        var hasEndedHere = reading.IsCompleted && reading.Result == closing;

        Assert.That(hasEndedHere, Is.False, "the closer may hold a lock");
        await reading;
        Assert.ThrowsAsync<ObjectDisposedException>(() => sending);
        Assert.ThrowsAsync<ObjectDisposedException>(() => polled.ReceiveAsync(new byte[16]).AsTask());
        Assert.ThrowsAsync<ObjectDisposedException>(() => polled.SendAsync(new byte[16]).AsTask());
    }

    [Test]
    public async Task Connection_that_was_closed_while_it_was_idle_is_not_used_though_its_thread_is_busy(
        CancellationToken cancellationToken
    )
    {
        var (polled, far) = await ConnectAsync(cancellationToken);
        using var connection = new OutsideConnection(polled, new PolledStream(polled), TimeProvider.System);
        Assert.That(await connection.BeginAsync(1_024), Is.True);
        far.Send([1]);
        Assert.That(await connection.FillAsync(), Is.True);
        connection.Consume(1);
        Assert.That(connection.End(), Is.True);
        connection.IsReused = true;
        await using var busy = await BusyThreads.StartAsync(ConnectAsync, cancellationToken);

        far.Dispose();

        Assert.That(await connection.BeginAsync(1_024), Is.False);
    }

    [Test]
    public void Refused_connection_says_so(CancellationToken cancellationToken)
    {
        var address = (IPEndPoint)_listening.LocalEndPoint!;
        _listening.Dispose();

        var failure = Assert.ThrowsAsync<SocketException>(() => PolledSocket.ConnectAsync(address, cancellationToken).AsTask());

        Assert.That(failure!.SocketErrorCode, Is.EqualTo(SocketError.ConnectionRefused));
    }

    [Test]
    public async Task Connecting_ends_when_the_caller_gives_up(CancellationToken cancellationToken)
    {
        // A full backlog leaves whoever connects waiting.
        var address = (IPEndPoint)_listening.LocalEndPoint!;
        var waiting = new List<PolledSocket>();
        using var giveUp = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        try
        {
            while (true)
            {
                var connecting = PolledSocket.ConnectAsync(address, giveUp.Token).AsTask();
                if (await Task.WhenAny(connecting, Task.Delay(TimeSpan.FromSeconds(1), cancellationToken)) == connecting)
                {
                    waiting.Add(await connecting);
                    continue;
                }

                await giveUp.CancelAsync();
                Assert.CatchAsync<OperationCanceledException>(() => connecting);
                return;
            }
        }
        finally
        {
            waiting.ForEach(socket => socket.Dispose());
        }
    }

    [Test]
    public async Task What_waits_goes_on_on_the_polling_thread_and_leaves_it_on_request(CancellationToken cancellationToken)
    {
        var (polled, other) = await ConnectAsync(cancellationToken);
        using var near = polled;
        using var far = other;

        var reading = Task.Run(
            async () =>
            {
                await polled.ReceiveAsync(new byte[16]);
                var before = PollingThread.IsCurrent;
                await PoolThread.SwitchAsync();
                return (Before: before, After: PollingThread.IsCurrent, Thread.CurrentThread.IsThreadPoolThread);
            },
            cancellationToken
        );
        await Task.Delay(100, cancellationToken); // it waits by now, or its bytes are there: both are allowed
        other.Send([1]);
        var (_, after, isPool) = await reading;

        Assert.That(after, Is.False);
        Assert.That(isPool, Is.True);
    }

    // Holds each thread that waits for sockets, until it is disposed.
    private sealed class BusyThreads : IAsyncDisposable
    {
        private readonly ManualResetEventSlim _release = new();
        private readonly List<Task> _holding = [];

        public static async Task<BusyThreads> StartAsync(
            Func<CancellationToken, Task<(PolledSocket Near, Socket Far)>> connect,
            CancellationToken cancellationToken
        )
        {
            var busy = new BusyThreads();
            var pairs = new List<(PolledSocket Near, Socket Far)>();
            for (var thread = 0; thread < PollingThread.Count; thread++)
                pairs.Add(await connect(cancellationToken));
            // outside of the context of the test, which would continue elsewhere
            busy._holding.AddRange(pairs.Select(pair => Task.Run(() => busy.HoldAsync(pair.Near, pair.Far), cancellationToken)));
            while (Enumerable.Range(0, PollingThread.Count).Any(thread => PollingThread.HeldSince(thread) == 0))
            {
                pairs.ForEach(pair => pair.Far.Send([1]));
                await Task.Delay(10, cancellationToken);
            }

            return busy;
        }

        public async ValueTask DisposeAsync()
        {
            _release.Set();
            await Task.WhenAll(_holding);
            _release.Dispose();
        }

        private async Task HoldAsync(PolledSocket near, Socket far)
        {
            using (near)
            using (far)
            {
                while (!PollingThread.IsCurrent) // a byte may be there already
                    await near.ReceiveAsync(new byte[1]);
                _release.Wait();
            }
        }
    }

    private static async Task<int> NoteThreadAsync(PolledSocket socket)
    {
        try
        {
            await socket.ReceiveAsync(new byte[16]);
            return 0;
        }
        catch (ObjectDisposedException)
        {
            return Environment.CurrentManagedThreadId;
        }
    }

    private async Task<(PolledSocket Near, Socket Far)> ConnectAsync(CancellationToken cancellationToken)
    {
        var accepting = _listening.AcceptAsync(cancellationToken);
        var near = await PolledSocket.ConnectAsync((IPEndPoint)_listening.LocalEndPoint!, cancellationToken);
        return (near, await accepting);
    }
}
