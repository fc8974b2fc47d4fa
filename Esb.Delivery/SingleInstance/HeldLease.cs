using Esb.Core.Storage;

namespace Esb.Delivery.SingleInstance;

/// <summary>A lease held by this host, as far as its own monotonic clock can assure it. Thread-safe.</summary>
/// <remarks>The store starts the lease time after this host's request, so the end known here is the earlier one. A lost lease stays lost; a
/// new one must be acquired.</remarks>
internal sealed class HeldLease : IDisposable
{
    private readonly CancellationTokenSource _ended = new();
    private readonly CancellationTokenSource _lost = new();
    private readonly ITimer _end;
    private readonly TimeSpan _timeToLive;
    private readonly TimeProvider _time;
    private long _heldSince;

    /// <param name="lease">The lease as granted by the store.</param>
    /// <param name="asked">The time of the request to the store, by <paramref name="time"/>.</param>
    /// <param name="timeToLive">The lease duration from the request on.</param>
    /// <param name="time">The clock of this host.</param>
    public HeldLease(Lease lease, long asked, TimeSpan timeToLive, TimeProvider time)
    {
        (Lease, _timeToLive, _time) = (lease, timeToLive, time);
        (Ended, Lost) = (_ended.Token, _lost.Token);
        _end = time.CreateTimer(_ => Lose(), null, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        Extend(asked);
    }

    public Lease Lease { get; }

    /// <summary>The fencing token; every later holder of the lease has a larger one.</summary>
    public long Token => Lease.Token;

    /// <summary>Cancelled first when the lease is lost or expires. For code that only starts and stops work; a callback must not
    /// block.</summary>
    public CancellationToken Ended { get; }

    /// <summary>Cancelled right after <see cref="Ended"/>, for operations in progress: a database client may take time to cancel a
    /// command.</summary>
    public CancellationToken Lost { get; }

    /// <summary>True if the lease is certainly held now. After a process freeze this detects an expired lease before any timer has
    /// run.</summary>
    public bool IsHeld
    {
        get
        {
            if (Ended.IsCancellationRequested)
                return false;
            if (_time.GetElapsedTime(Interlocked.Read(ref _heldSince)) < _timeToLive)
                return true;
            Lose();
            return false;
        }
    }

    /// <summary>Extends the lease after the store has renewed it.</summary>
    public void Extend(long asked)
    {
        Interlocked.Exchange(ref _heldSince, asked);
        var left = _timeToLive - _time.GetElapsedTime(asked);
        _end.Change(left > TimeSpan.Zero ? left : TimeSpan.Zero, Timeout.InfiniteTimeSpan);
    }

    /// <summary>Ends the work under the lease and prevents further work.</summary>
    public void Lose()
    {
        _ended.Cancel();
        _ = _lost.CancelAsync();
    }

    public void Dispose() => _end.Dispose();
}
