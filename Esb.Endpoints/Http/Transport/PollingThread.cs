using System.Collections.Concurrent;
using System.Diagnostics.Metrics;
using Esb.Core.Diagnostics;
using Esb.Delivery;

namespace Esb.Endpoints.Http.Transport;

/// <summary>A thread that waits for sockets and continues what waits for them, itself: no other thread has to wake up. Whatever blocks or
/// computes for long must leave it first (<see cref="PoolThread"/>), because its other sockets wait meanwhile. Thread-safe.</summary>
internal sealed class PollingThread
{
    // One for each processor: they work as much as they wait.
    internal static readonly int Count = Environment.ProcessorCount;

    private static readonly Histogram<double> HeldFor = EndpointsTelemetry.Meter.Histogram<double>(EsbTelemetry.Metrics.SocketThreadHeld);

    private static readonly Lazy<PollingThread[]> All = new(static () =>
        [.. Enumerable.Range(0, Count).Select(number => new PollingThread(number))]
    );

    [ThreadStatic]
    private static bool _isCurrent;

    private static int _last;

    private readonly ConcurrentDictionary<long, PolledSocket> _sockets = new();
    private readonly Epoll _epoll = new();
    private readonly int _number;
    private volatile HoldWatch? _watch;
    private long _lastId;

    private PollingThread(int number)
    {
        _number = number;
        new Thread(Run) { IsBackground = true, Name = $"esb-sockets-{number}" }.Start();
    }

    /// <summary>A socket has held a thread for longer than <see cref="HoldWatch.Limit"/>: the number of the thread, how long, and the
    /// socket. Called on that thread, after the hold.</summary>
    public static event Action<int, TimeSpan, PolledSocket>? Held;

    /// <summary>True on such a thread.</summary>
    public static bool IsCurrent => _isCurrent;

    /// <summary>The thread that the next connection belongs to.</summary>
    public static PollingThread Next() => All.Value[(uint)Interlocked.Increment(ref _last) % All.Value.Length];

    /// <summary>Timestamp since which one socket holds the thread of this number, 0 if none does.</summary>
    public static long HeldSince(int number) => All.IsValueCreated ? All.Value[number]._watch?.HeldSince ?? 0 : 0;

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
        var watch = _watch = new HoldWatch(TimeProvider.System, new StalledTime().Read);
        while (true)
        {
            var count = _epoll.Wait();
            for (var i = 0; i < count; i++)
            {
                var (id, mayRead, mayWrite, hasEnded) = _epoll.Read(i);
                if (!_sockets.TryGetValue(id, out var socket))
                    continue; // closed meanwhile
                watch.Begin();
                socket.Signal(mayRead, mayWrite, hasEnded);
                if (watch.End() is not { } held)
                    continue;
                HeldFor.Record(held.TotalSeconds);
                Held?.Invoke(_number, held, socket);
            }
        }
    }
}
