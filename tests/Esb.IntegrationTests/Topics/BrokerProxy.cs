using System.Buffers.Binary;
using System.Collections.Concurrent;
using System.Net;
using System.Net.Sockets;
using System.Text;
using Esb.IntegrationTests.Topics.Queues;

namespace Esb.IntegrationTests.Topics;

/// <summary>Where a connection is cut, seen from one message that is published to a topic.</summary>
public enum Cut
{
    None,
    BeforePublish,
    InBody,
    BeforeConfirm,
    InConfirm,
}

/// <summary>Stands between a client and the broker, knows the frames of AMQP 0-9-1 and lets the network fail at a chosen byte.</summary>
internal sealed class BrokerProxy : IAsyncDisposable
{
    private readonly TcpListener _listener = new(IPAddress.Loopback, 0);
    private readonly CancellationTokenSource _stopping = new();
    private readonly ConcurrentBag<Task> _links = [];
    private readonly ConcurrentDictionary<string, HeldConsume> _held = [];
    private readonly Uri _broker;
    private readonly Task _accepting;
    private volatile TaskCompletionSource _flowing = Completed();
    private volatile byte[]? _garbage;
    private CancellationTokenSource _cutting = new();
    private int _cut;

    public BrokerProxy(string url)
    {
        _broker = new Uri(url);
        _listener.Start();
        _accepting = AcceptAsync();
    }

    /// <summary>The broker's address by way of the proxy.</summary>
    public string Url =>
        new UriBuilder(_broker) { Host = "127.0.0.1", Port = ((IPEndPoint)_listener.LocalEndpoint).Port }.Uri.AbsoluteUri.TrimEnd('/');

    /// <summary>Cuts the connection of the next message that is published to a topic.</summary>
    public void CutNext(Cut where) => Volatile.Write(ref _cut, (int)where);

    /// <summary>Cuts every connection; new ones get through.</summary>
    public Task CutAllAsync() => Interlocked.Exchange(ref _cutting, new CancellationTokenSource()).CancelAsync();

    /// <summary>From now on bytes are taken and go nowhere, as when the other half of a connection is gone.</summary>
    public void Stall() => _flowing = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);

    /// <summary>Ends <see cref="Stall"/> for new connections; those that stalled have lost bytes.</summary>
    public void Flow() => Interlocked.Exchange(ref _flowing!, Completed()).TrySetResult();

    /// <summary>Sends these bytes to the client in place of the broker's next.</summary>
    public void Inject(byte[] garbage) => _garbage = garbage;

    /// <summary>Holds the next word of a client that it consumes a queue; whatever else it says gets through.</summary>
    public HeldConsume HoldNextConsume(string queue) => _held[queue] = new HeldConsume();

    public async ValueTask DisposeAsync()
    {
        await _stopping.CancelAsync();
        _listener.Stop();
        await _accepting;
        await Task.WhenAll(_links);
    }

    private async Task AcceptAsync()
    {
        try
        {
            while (true)
            {
                var client = await _listener.AcceptTcpClientAsync(_stopping.Token);
                _links.Add(LinkAsync(client));
            }
        }
        catch (Exception ex) when (ex is OperationCanceledException or ObjectDisposedException or SocketException)
        {
            // Disposed.
        }
    }

    private async Task LinkAsync(TcpClient client)
    {
        using var link = new Link(client, this);
        using var ending = CancellationTokenSource.CreateLinkedTokenSource(_stopping.Token, Volatile.Read(ref _cutting).Token);
        try
        {
            await link.ConnectAsync(_broker.Host, _broker.Port, ending.Token);
            await await Task.WhenAny(link.ForwardAsync(ending.Token), link.ReturnAsync(ending.Token));
        }
        catch (Exception ex)
            when (ex is IOException or SocketException or OperationCanceledException or ObjectDisposedException or CutException)
        {
            // The connection ends, as it was meant to or by itself.
        }
        finally
        {
            await ending.CancelAsync();
        }
    }

    private static TaskCompletionSource Completed()
    {
        var completed = new TaskCompletionSource();
        completed.SetResult();
        return completed;
    }

    private sealed class CutException : Exception;

    private sealed class Link(TcpClient client, BrokerProxy proxy) : IDisposable
    {
        private readonly TcpClient _server = new();
        private readonly SemaphoreSlim _writing = new(1, 1);
        private volatile bool _isConfirmCut;

        public Task ConnectAsync(string host, int port, CancellationToken cancellationToken) =>
            _server.ConnectAsync(host, port, cancellationToken).AsTask();

        public async Task ForwardAsync(CancellationToken cancellationToken)
        {
            var (from, to) = (client.GetStream(), _server.GetStream());
            var greeting = new byte[8];
            await from.ReadExactlyAsync(greeting, cancellationToken);
            await to.WriteAsync(greeting, cancellationToken);
            var cut = Cut.None;
            while (true)
            {
                var frame = await ReadFrameAsync(from, cancellationToken);
                if (IsPublishToTopic(frame))
                    cut = (Cut)Interlocked.Exchange(ref proxy._cut, (int)Cut.None);
                if (cut == Cut.BeforePublish)
                    throw new CutException();
                if (frame[0] == 3 && cut == Cut.InBody)
                {
                    await WriteAsync(to, frame.AsMemory(0, frame.Length / 2), cancellationToken);
                    throw new CutException();
                }

                if (frame[0] == 3 && cut == Cut.InConfirm)
                    _isConfirmCut = true;
                if (IsMethod(frame, 60, 20) && proxy._held.TryRemove(NameIn(frame), out var held))
                {
                    proxy._links.Add(ForwardLaterAsync(to, frame, held, cancellationToken));
                    continue;
                }

                await ForwardFrameAsync(to, frame, cancellationToken);
                if (frame[0] == 3 && cut == Cut.BeforeConfirm)
                    throw new CutException();
                if (frame[0] == 3)
                    cut = Cut.None;
            }
        }

        public async Task ReturnAsync(CancellationToken cancellationToken)
        {
            var (from, to) = (_server.GetStream(), client.GetStream());
            while (true)
            {
                var frame = await ReadFrameAsync(from, cancellationToken);
                if (Interlocked.Exchange(ref proxy._garbage, null) is { } garbage)
                    await WriteAsync(to, garbage, cancellationToken);
                if (_isConfirmCut && IsConfirm(frame))
                {
                    await WriteAsync(to, frame.AsMemory(0, frame.Length / 2), cancellationToken);
                    throw new CutException();
                }

                await WriteAsync(to, frame, cancellationToken);
            }
        }

        public void Dispose()
        {
            client.Dispose();
            _server.Dispose();
            _writing.Dispose();
        }

        private async Task WriteAsync(Stream to, ReadOnlyMemory<byte> bytes, CancellationToken cancellationToken)
        {
            var flowing = proxy._flowing.Task;
            if (!flowing.IsCompleted)
            {
                await flowing.WaitAsync(cancellationToken);
                throw new CutException(); // what was held is lost
            }

            await to.WriteAsync(bytes, cancellationToken);
        }

        // A client says nothing else over that channel until it is answered.
        private async Task ForwardLaterAsync(NetworkStream to, byte[] frame, HeldConsume held, CancellationToken cancellationToken)
        {
            try
            {
                await held.HoldAsync(cancellationToken);
                await ForwardFrameAsync(to, frame, cancellationToken);
            }
            catch (Exception ex) when (ex is IOException or OperationCanceledException or ObjectDisposedException or CutException)
            {
                // The connection ended before.
            }
        }

        // With frames that were held, several write to the broker.
        private async Task ForwardFrameAsync(Stream to, ReadOnlyMemory<byte> bytes, CancellationToken cancellationToken)
        {
            await _writing.WaitAsync(cancellationToken);
            try
            {
                await WriteAsync(to, bytes, cancellationToken);
            }
            finally
            {
                _writing.Release();
            }
        }

        private static async Task<byte[]> ReadFrameAsync(Stream from, CancellationToken cancellationToken)
        {
            var head = new byte[7];
            await from.ReadExactlyAsync(head, cancellationToken);
            var frame = new byte[head.Length + BinaryPrimitives.ReadInt32BigEndian(head.AsSpan(3)) + 1];
            head.CopyTo(frame, 0);
            await from.ReadExactlyAsync(frame.AsMemory(head.Length), cancellationToken);
            return frame;
        }

        private static bool IsConfirm(byte[] frame) => IsMethod(frame, 60, 80);

        // class 60, method 40; then two reserved bytes and the name of the exchange
        private static bool IsPublishToTopic(byte[] frame) =>
            IsMethod(frame, 60, 40) && NameIn(frame).Contains(".topics.", StringComparison.Ordinal);

        // of the exchange that is published to, or of the queue that is consumed
        private static string NameIn(byte[] frame) => Encoding.UTF8.GetString(frame, 14, frame[13]);

        private static bool IsMethod(byte[] frame, int kind, int method) =>
            frame[0] == 1
            && BinaryPrimitives.ReadUInt16BigEndian(frame.AsSpan(7)) == kind
            && BinaryPrimitives.ReadUInt16BigEndian(frame.AsSpan(9)) == method;
    }
}
