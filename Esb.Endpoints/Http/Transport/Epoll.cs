using System.Buffers.Binary;
using System.Net.Sockets;
using System.Runtime.InteropServices;

namespace Esb.Endpoints.Http.Transport;

/// <summary>Waits for many sockets at once (<c>epoll(7)</c>), edge-triggered. <see cref="Add"/> is thread-safe; <see cref="Wait"/> belongs
/// to one thread.</summary>
internal sealed class Epoll
{
    /// <summary>The most events that one wait returns.</summary>
    public const int MaxEvents = 256;

    private const int CloseOnExec = 0x80000; // EPOLL_CLOEXEC
    private const int Addition = 1; // EPOLL_CTL_ADD
    private const int Interrupted = 4; // EINTR
    private const uint In = 0x1; // EPOLLIN
    private const uint Out = 0x4; // EPOLLOUT
    private const uint Broken = 0x8 | 0x10; // EPOLLERR, EPOLLHUP
    private const uint HalfClosed = 0x2000; // EPOLLRDHUP
    private const uint Edges = 0x8000_0000; // EPOLLET

    // struct epoll_event is packed on x64 alone.
    private static readonly int EventBytes = RuntimeInformation.ProcessArchitecture == Architecture.X64 ? 12 : 16;
    private static readonly int IdOffset = EventBytes - sizeof(long);

    private readonly byte[] _events = GC.AllocateArray<byte>(MaxEvents * EventBytes, pinned: true);
    private readonly int _descriptor;

    /// <exception cref="SocketException">The process has too many open files.</exception>
    public Epoll()
    {
        _descriptor = Create(CloseOnExec);
        if (_descriptor < 0)
            throw Failure();
    }

    /// <summary>True if this platform has it.</summary>
    public static bool IsSupported =>
        OperatingSystem.IsLinux() && RuntimeInformation.ProcessArchitecture is Architecture.X64 or Architecture.Arm64;

    /// <summary>Reports each change of a socket from now on, and its state at once. Closing the socket ends it.</summary>
    /// <exception cref="SocketException">The system has no memory for it.</exception>
    public void Add(SafeSocketHandle socket, long id)
    {
        var wanted = new byte[EventBytes];
        BinaryPrimitives.WriteUInt32LittleEndian(wanted, In | Out | HalfClosed | Edges);
        BinaryPrimitives.WriteInt64LittleEndian(wanted.AsSpan(IdOffset), id);
        if (Control(_descriptor, Addition, socket, wanted) < 0)
            throw Failure();
    }

    /// <summary>Waits until a socket has changed.</summary>
    /// <returns>The number of events.</returns>
    public int Wait()
    {
        while (true)
        {
            var count = Wait(_descriptor, _events, MaxEvents, timeout: -1);
            if (count >= 0)
                return count;
            if (Marshal.GetLastPInvokeError() != Interrupted)
                throw Failure();
        }
    }

    /// <summary>An event of the last wait: the socket, whether it may be read from and written to, and whether the other side has ended the
    /// stream or the connection is broken. A broken socket may be both read and written.</summary>
    public (long Id, bool MayRead, bool MayWrite, bool HasEnded) Read(int index)
    {
        var entry = _events.AsSpan(index * EventBytes, EventBytes);
        var flags = BinaryPrimitives.ReadUInt32LittleEndian(entry);
        return (
            BinaryPrimitives.ReadInt64LittleEndian(entry[IdOffset..]),
            (flags & (In | HalfClosed | Broken)) != 0,
            (flags & (Out | Broken)) != 0,
            (flags & (HalfClosed | Broken)) != 0
        );
    }

    private static SocketException Failure() => new((int)SocketError.SocketError, Marshal.GetLastPInvokeErrorMessage());

    [DllImport("libc", EntryPoint = "epoll_create1", SetLastError = true)]
    private static extern int Create(int flags);

    [DllImport("libc", EntryPoint = "epoll_ctl", SetLastError = true)]
    private static extern int Control(int descriptor, int operation, SafeSocketHandle socket, byte[] wanted);

    [DllImport("libc", EntryPoint = "epoll_wait", SetLastError = true)]
    private static extern int Wait(int descriptor, byte[] events, int maxEvents, int timeout);
}
