using Esb.Core.Storage;

namespace Esb.Delivery.SingleInstance;

/// <summary>A lease that this host holds, as far as it can be sure of that by its own monotonic clock. Thread-safe.</summary>
/// <remarks>The store counts from a later moment than the one at which it was asked, so that the end known here is the earlier one. What is lost stays lost: whoever wants it again asks for a new one.</remarks>
internal sealed class HeldLease : IDisposable
{
    private readonly CancellationTokenSource _ended = new();
    private readonly CancellationTokenSource _lost = new();
    private readonly ITimer _end;
    private readonly TimeSpan _timeToLive;
    private readonly TimeProvider _time;
    private long _heldSince;

    /// <param name="lease">As the store granted it.</param>
    /// <param name="asked">When the store was asked for it, by <paramref name="time"/>.</param>
    /// <param name="timeToLive">How long it lasts from then on.</param>
    /// <param name="time">Of this host.</param>
    public HeldLease(Lease lease, long asked, TimeSpan timeToLive, TimeProvider time)
    {
        (Lease, _timeToLive, _time) = (lease, timeToLive, time);
        (Ended, Lost) = (_ended.Token, _lost.Token);
        _end = time.CreateTimer(_ => Lose(), null, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        Extend(asked);
    }

    public Lease Lease { get; }

    /// <summary>The fencing token: whoever holds the lease later has a larger one.</summary>
    public long Token => Lease.Token;

    /// <summary>Cancelled when the lease is lost, or has run out: before anything else hears of it. For those who only begin and end; a callback must not block.</summary>
    public CancellationToken Ended { get; }

    /// <summary>Cancelled right after <see cref="Ended"/>, for what is under way: a database client may take its time to cancel a command.</summary>
    public CancellationToken Lost { get; }

    /// <summary>Whether it is certainly held at this moment. A process that stood still finds out here, before any of its timers has run.</summary>
    public bool IsHeld
    {
        get
        {
            if (Ended.IsCancellationRequested) return false;
            if (_time.GetElapsedTime(Interlocked.Read(ref _heldSince)) < _timeToLive) return true;
            Lose();
            return false;
        }
    }

    /// <summary>The store renewed it.</summary>
    public void Extend(long asked)
    {
        Interlocked.Exchange(ref _heldSince, asked);
        var left = _timeToLive - _time.GetElapsedTime(asked);
        _end.Change(left > TimeSpan.Zero ? left : TimeSpan.Zero, Timeout.InfiniteTimeSpan);
    }

    /// <summary>Ends what is done under it, and what would be begun.</summary>
    public void Lose()
    {
        _ended.Cancel();
        _ = _lost.CancelAsync();
    }

    public void Dispose() => _end.Dispose();
}
