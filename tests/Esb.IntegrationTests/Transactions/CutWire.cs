using System.Net;
using System.Net.Sockets;
using System.Text;

namespace Esb.IntegrationTests.Transactions;

/// <summary>A connection to PostgreSQL that is cut, or falls silent, at a chosen moment: around the first chunk in which the client sends a
/// certain text.</summary>
internal sealed class CutWire : IAsyncDisposable
{
    private readonly TcpListener _listener = new(IPAddress.Loopback, 0);
    private readonly int _target;
    private readonly CancellationTokenSource _stopping = new();
    private readonly Task _accepting;
    private volatile Cut? _next;

    private CutWire(int target)
    {
        _target = target;
        _listener.Start();
        _accepting = AcceptAsync();
    }

    public int Port => ((IPEndPoint)_listener.LocalEndpoint).Port;

    /// <summary>How often a wire was cut.</summary>
    public int Cuts { get; private set; }

    public static CutWire To(int port) => new(port);

    /// <summary>The server gets the text, but its answer is lost with the connection.</summary>
    /// <param name="text">What the client sends.</param>
    /// <param name="behind">What it has sent on the same connection before, or sends with it.</param>
    public void CutAfter(string text, string behind) => _next = new Cut(text, behind, IsDelivered: true);

    /// <summary>The text is lost with the connection.</summary>
    public void CutBefore(string text, string behind) => _next = new Cut(text, behind, IsDelivered: false);

    /// <summary>The connection falls silent, and ends when the server ends it.</summary>
    /// <param name="text">What the client sends.</param>
    /// <param name="behind">What it has sent on the same connection before, or sends with it.</param>
    /// <param name="isDelivered">Whether the server gets the text; its answer is lost.</param>
    /// <returns>Completes when the client has sent the text, and the server has done what it was told.</returns>
    public Task HoldAt(string text, string behind, bool isDelivered)
    {
        var held = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        _next = new Cut(text, behind, isDelivered, held);
        return held.Task;
    }

    public async ValueTask DisposeAsync()
    {
        await _stopping.CancelAsync();
        _listener.Stop();
        await _accepting;
        _stopping.Dispose();
    }

    private async Task AcceptAsync()
    {
        var wires = new List<Task>();
        try
        {
            while (true)
                wires.Add(ForwardAsync(await _listener.AcceptTcpClientAsync(_stopping.Token)));
        }
        catch (OperationCanceledException)
        {
            await Task.WhenAll(wires);
        }
    }

    private async Task ForwardAsync(TcpClient client)
    {
        using var near = client;
        using var far = new TcpClient();
        try
        {
            await far.ConnectAsync(IPAddress.Loopback, _target);
        }
        catch (SocketException)
        {
            return; // the server is down
        }

        if (!near.Connected || !far.Connected)
            return; // one of the two has ended already

        using var cut = CancellationTokenSource.CreateLinkedTokenSource(_stopping.Token);
        var hold = new Hold();
        Task[] copies =
        [
            CopyAsync(near.GetStream(), far.GetStream(), hold, isClient: true, cut),
            CopyAsync(far.GetStream(), near.GetStream(), hold, isClient: false, cut),
        ];
        await Task.WhenAny(copies);
        await cut.CancelAsync();
        await Task.WhenAll(copies); // what is still to be delivered needs the connection
    }

    private async Task CopyAsync(NetworkStream from, NetworkStream to, Hold hold, bool isClient, CancellationTokenSource cut)
    {
        var buffer = new byte[64 * 1024];
        var sent = new StringBuilder();
        try
        {
            int read;
            while ((read = await from.ReadAsync(buffer, cut.Token)) > 0)
            {
                var text = Encoding.UTF8.GetString(buffer, 0, read);
                if (
                    isClient
                    && _next is { } next
                    && sent.Append(text).ToString().Contains(next.Behind, StringComparison.Ordinal)
                    && text.Contains(next.Text, StringComparison.Ordinal)
                )
                {
                    _next = null;
                    Cuts++;
                    if (next.Held is { } held)
                    {
                        hold.Answered = held;
                        if (next.IsDelivered)
                            await to.WriteAsync(buffer.AsMemory(0, read), cut.Token);
                        else
                            held.SetResult();
                        await Task.Delay(Timeout.InfiniteTimeSpan, cut.Token);
                    }

                    await cut.CancelAsync(); // before an answer can come
                    if (next.IsDelivered)
                        await DeliverAsync(to, buffer.AsMemory(0, read));
                    return;
                }

                if (!isClient && hold.Answered is { } answered)
                    answered.TrySetResult(); // it has done what it was told
                else
                    await to.WriteAsync(buffer.AsMemory(0, read), cut.Token);
            }
        }
        catch (Exception ex) when (ex is OperationCanceledException or IOException)
        {
            // the wire is cut
        }
    }

    private static async Task DeliverAsync(NetworkStream server, ReadOnlyMemory<byte> text)
    {
        await server.WriteAsync(text, CancellationToken.None);
        _ = await server.ReadAsync(new byte[1], CancellationToken.None); // it has done what it was told
    }

    private sealed record Cut(string Text, string Behind, bool IsDelivered, TaskCompletionSource? Held = null);

    /// <summary>Of one connection: what hears of the next answer in place of the client; null while it is not held.</summary>
    private sealed class Hold
    {
        public volatile TaskCompletionSource? Answered;
    }
}
