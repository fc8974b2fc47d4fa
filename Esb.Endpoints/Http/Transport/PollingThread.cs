using System.Collections.Concurrent;

namespace Esb.Endpoints.Http.Transport;

/// <summary>A thread that waits for sockets and continues what waits for them, itself: no other thread has to wake up. Whatever blocks or
/// computes for long must leave it first (<see cref="PoolThread"/>), because its other sockets wait meanwhile. Thread-safe.</summary>
internal sealed class PollingThread
{
    private static readonly Lazy<PollingThread[]> All = new(static () =>
        [.. Enumerable.Range(0, Count).Select(number => new PollingThread(number))]
    );

    [ThreadStatic]
    private static bool _isCurrent;

    private static int _last;

    private readonly ConcurrentDictionary<long, PolledSocket> _sockets = new();
    private readonly Epoll _epoll = new();
    private long _lastId;

    private PollingThread(int number) => new Thread(Run) { IsBackground = true, Name = $"esb-sockets-{number}" }.Start();

    /// <summary>True on such a thread.</summary>
    public static bool IsCurrent => _isCurrent;

    // One for each processor: they work as much as they wait.
    private static int Count => Environment.ProcessorCount;

    /// <summary>The thread that the next connection belongs to.</summary>
    public static PollingThread Next() => All.Value[(uint)Interlocked.Increment(ref _last) % All.Value.Length];

    /// <summary>Signals the socket whenever it may be read from or written to.</summary>
    /// <returns>What <see cref="Remove"/> needs.</returns>
    /// <exception cref="System.Net.Sockets.SocketException">The system has no memory for it.</exception>
    public long Add(PolledSocket socket)
    {
        var id = Interlocked.Increment(ref _lastId);
        _sockets[id] = socket;
        try
        {
            _epoll.Add(socket.Handle, id);
            return id;
        }
        catch
        {
            Remove(id);
            throw;
        }
    }

    public void Remove(long id) => _sockets.TryRemove(id, out _);

    private void Run()
    {
        _isCurrent = true;
        while (true)
        {
            var count = _epoll.Wait();
            for (var i = 0; i < count; i++)
            {
                var (id, mayRead, mayWrite, hasEnded) = _epoll.Read(i);
                if (_sockets.TryGetValue(id, out var socket)) // otherwise closed meanwhile
                    socket.Signal(mayRead, mayWrite, hasEnded);
            }
        }
    }
}
