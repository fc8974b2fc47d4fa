using System.Net;
using System.Net.Sockets;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Esb.Endpoints.Http.Transport;

/// <summary>A connected TCP socket that a <see cref="PollingThread"/> waits for. One reader and one writer at a time; <see cref="Dispose"/>
/// is thread-safe and ends what they wait for.</summary>
/// <remarks>The platform's own asynchronous calls must not be used beside: its threads would wait for the socket, too.</remarks>
internal sealed class PolledSocket : IDisposable
{
    // A sender that is faster than its bytes are worked on would keep the others of the thread waiting.
    private const int MaxReadsInTurn = 16;

    private const int Again = 11; // EAGAIN
    private const int Interrupted = 4; // EINTR
    private const int NoSignal = 0x4000; // MSG_NOSIGNAL

    private readonly Socket _socket;
    private readonly SafeSocketHandle _handle;
    private readonly ReadySignal _readable = new();
    private readonly ReadySignal _writable = new();
    private readonly PollingThread _thread = PollingThread.Next();
    private long _id;
    private int _isClosed;

    // The end of the stream is signalled once, possibly together with the last bytes.
    private volatile bool _hasEnded;

    // The last read has taken all that had arrived; whatever follows is signalled.
    private bool _isDrained = true;
    private int _readsInTurn;

    private PolledSocket(Socket socket)
    {
        _socket = socket;
        _handle = socket.SafeHandle;
    }

    public EndPoint? LocalEndPoint => _socket.LocalEndPoint;

    public EndPoint? RemoteEndPoint => _socket.RemoteEndPoint;

    /// <summary>Both addresses, for the log.</summary>
    public string Addresses
    {
        get
        {
            try
            {
                return $"{LocalEndPoint} - {RemoteEndPoint}";
            }
            catch (Exception ex) when (ex is ObjectDisposedException or SocketException)
            {
                return "that is closed now";
            }
        }
    }

    internal SafeSocketHandle Handle => _handle;

    private bool IsClosed => Volatile.Read(ref _isClosed) != 0;

    /// <summary>Takes over a socket that was accepted.</summary>
    /// <exception cref="SocketException">The system has no memory to wait for it.</exception>
    public static PolledSocket Of(Socket accepted)
    {
        accepted.Blocking = false;
        var socket = new PolledSocket(accepted);
        socket._id = socket._thread.Add(socket);
        return socket;
    }

    /// <summary>Opens a connection to one address.</summary>
    /// <exception cref="SocketException">The other side refuses, or cannot be reached.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    public static async ValueTask<PolledSocket> ConnectAsync(IPEndPoint address, CancellationToken cancellationToken)
    {
        var raw = new Socket(address.AddressFamily, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true, Blocking = false };
        try
        {
            raw.Connect(address);
        }
        catch (SocketException ex) when (ex.SocketErrorCode is SocketError.WouldBlock or SocketError.InProgress)
        {
            // under way
        }
        catch
        {
            raw.Dispose();
            throw;
        }

        var socket = new PolledSocket(raw);
        try
        {
            socket._id = socket._thread.Add(socket);
            await using var leaving = cancellationToken.UnsafeRegister(static socket => ((PolledSocket)socket!).Dispose(), socket);
            await socket._writable.WaitAsync();
            cancellationToken.ThrowIfCancellationRequested();
            if ((int)raw.GetSocketOption(SocketOptionLevel.Socket, SocketOptionName.Error)! is not 0 and var error)
                throw new SocketException(error);
            return socket;
        }
        catch (Exception ex)
        {
            socket.Dispose();
            cancellationToken.ThrowIfCancellationRequested();
            if (ex is ObjectDisposedException)
                throw new SocketException((int)SocketError.OperationAborted);
            throw;
        }
    }

    /// <summary>Makes the next read ask the system: a signal may be late. For its reader.</summary>
    public void ReadAnew() => _isDrained = false;

    /// <summary>Waits until bytes, or the end of the stream, may have arrived.</summary>
    public ValueTask WaitToReadAsync()
    {
        if (!_isDrained || IsClosed)
            return ++_readsInTurn % MaxReadsInTurn == 0 ? LeaveThreadAsync() : ValueTask.CompletedTask;
        _readsInTurn = 0;
        return _readable.WaitAsync();
    }

    /// <summary>Reads what has arrived.</summary>
    /// <returns>The number of bytes; 0 at the end of the stream, -1 if nothing has arrived yet.</returns>
    /// <exception cref="SocketException">The connection is broken.</exception>
    /// <exception cref="ObjectDisposedException">The socket was closed.</exception>
    public int TryReceive(Span<byte> buffer)
    {
        while (true)
        {
            var read = (int)Receive(_handle, ref MemoryMarshal.GetReference(buffer), buffer.Length, flags: 0);
            if (read >= 0)
            {
                _isDrained = read < buffer.Length && !_hasEnded;
                return read;
            }

            var error = Marshal.GetLastPInvokeError();
            if (error == Again)
            {
                _isDrained = !_hasEnded;
                return -1;
            }

            if (error != Interrupted)
                throw Broken(error);
        }
    }

    /// <summary>Reads what arrives next.</summary>
    /// <returns>The number of bytes; 0 at the end of the stream.</returns>
    /// <exception cref="SocketException">The connection is broken.</exception>
    /// <exception cref="ObjectDisposedException">The socket was closed.</exception>
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    public async ValueTask<int> ReceiveAsync(Memory<byte> buffer)
    {
        while (true)
        {
            await WaitToReadAsync();
            if (TryReceive(buffer.Span) is >= 0 and var read)
                return read;
        }
    }

    /// <summary>Sends all bytes.</summary>
    /// <exception cref="SocketException">The connection is broken.</exception>
    /// <exception cref="ObjectDisposedException">The socket was closed.</exception>
    public ValueTask SendAsync(ReadOnlyMemory<byte> bytes)
    {
        var sent = TrySend(bytes.Span);
        return sent == bytes.Length ? ValueTask.CompletedTask : SendRestAsync(bytes[sent..]);
    }

    /// <summary>Tells the other side that nothing follows, and wakes the reader.</summary>
    public void Shutdown()
    {
        try
        {
            _socket.Shutdown(SocketShutdown.Both);
        }
        catch (Exception ex) when (ex is SocketException or ObjectDisposedException)
        {
            // the other side was faster
        }
    }

    public void Dispose()
    {
        if (Interlocked.Exchange(ref _isClosed, 1) != 0)
            return;
        _thread.Remove(_id);
        _socket.Dispose();
        // The caller may hold a lock, so they continue elsewhere.
        _readable.SetFromOutside();
        _writable.SetFromOutside();
    }

    /// <summary>Continues what waits for the socket. For its polling thread.</summary>
    internal void Signal(bool mayRead, bool mayWrite, bool hasEnded)
    {
        if (hasEnded)
            _hasEnded = true;
        if (mayWrite)
            _writable.Set();
        if (mayRead)
            _readable.Set();
    }

    private static async ValueTask LeaveThreadAsync() => await PoolThread.SwitchAsync();

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder))]
    private async ValueTask SendRestAsync(ReadOnlyMemory<byte> rest)
    {
        while (true)
        {
            await _writable.WaitAsync();
            rest = rest[TrySend(rest.Span)..];
            if (rest.IsEmpty)
                return;
        }
    }

    // As many bytes as the system takes now.
    private int TrySend(ReadOnlySpan<byte> bytes)
    {
        var total = 0;
        while (total < bytes.Length)
        {
            var sent = (int)Send(_handle, ref MemoryMarshal.GetReference(bytes[total..]), bytes.Length - total, NoSignal);
            if (sent >= 0)
            {
                total += sent;
                continue;
            }

            var error = Marshal.GetLastPInvokeError();
            if (error == Again)
                break;
            if (error != Interrupted)
                throw Broken(error);
        }

        return total;
    }

    private static SocketException Broken(int error)
    {
        var known = error switch
        {
            32 or 104 => SocketError.ConnectionReset, // EPIPE, ECONNRESET
            103 => SocketError.ConnectionAborted, // ECONNABORTED
            110 => SocketError.TimedOut, // ETIMEDOUT
            113 => SocketError.HostUnreachable, // EHOSTUNREACH
            _ => SocketError.SocketError,
        };
        return new SocketException((int)known, Marshal.GetPInvokeErrorMessage(error));
    }

    [DllImport("libc", EntryPoint = "recv", SetLastError = true)]
    private static extern nint Receive(SafeSocketHandle socket, ref byte buffer, nint length, int flags);

    [DllImport("libc", EntryPoint = "send", SetLastError = true)]
    private static extern nint Send(SafeSocketHandle socket, ref readonly byte buffer, nint length, int flags);
}
