using Esb.Core.Topics;

namespace Esb.Delivery.Crashes;

/// <summary>The guarded opening of a queue that may hold a message that crashes the process. Deliveries wait until the whole prefetch has
/// been read. Thread-safe.</summary>
/// <param name="endpoint">The endpoint.</param>
/// <param name="time">The clock.</param>
/// <param name="read">Called once, when the whole prefetch has been read and the process survived. A later crash is attributed to a
/// message.</param>
/// <param name="leave">Called once, at the end of the opening.</param>
internal sealed class EndpointOpening(string endpoint, TimeProvider time, Action read, Action leave) : IDisposable
{
    private const int EnoughSettled = 32;

    // Bounds the wait for an unreachable broker, so that other endpoints can open.
    private static readonly TimeSpan LongestConnect = TimeSpan.FromSeconds(2);

    // Bounds the wait for a first message that another host may have taken.
    private static readonly TimeSpan LongestRead = TimeSpan.FromSeconds(10);
    private static readonly TimeSpan Reading = TimeSpan.FromMilliseconds(250);
    private static readonly TimeSpan LongestWork = TimeSpan.FromSeconds(2);
    private static readonly TimeSpan Look = TimeSpan.FromMilliseconds(20);

    private readonly TaskCompletionSource _read = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private int _inHand;
    private int _settled;
    private volatile bool _hasArrived;
    private int _isOver;

    public string Endpoint => endpoint;

    /// <summary>Processes a delivery once the prefetch that it arrived with has been read.</summary>
    public async ValueTask<Settlement> WorkAsync(Func<ValueTask<Settlement>> work, CancellationToken cancellationToken)
    {
        if (Volatile.Read(ref _isOver) == 1)
            return await work();
        Interlocked.Increment(ref _inHand);
        _hasArrived = true;
        try
        {
            await _read.Task.WaitAsync(cancellationToken);
            return await work();
        }
        catch (OperationCanceledException) when (cancellationToken.IsCancellationRequested)
        {
            return Settlement.Return;
        }
        finally
        {
            Interlocked.Increment(ref _settled);
            Interlocked.Decrement(ref _inHand);
        }
    }

    /// <summary>Waits while the queue is first read and its deliveries are processed: all of them, 32 deliveries, or 2 s.</summary>
    /// <param name="holdsMessages">True if messages wait in the queue: the first of them is awaited for at most 10 s, since a busy machine
    /// may take long to read it.</param>
    /// <param name="isLive">Returns true while the queue is consumed.</param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    public async Task WatchAsync(bool holdsMessages, Func<bool> isLive, CancellationToken cancellationToken)
    {
        await WaitAsync(isLive, LongestConnect, cancellationToken);
        if (holdsMessages)
            await WaitAsync(() => _hasArrived || !isLive(), LongestRead, cancellationToken);
        await Task.Delay(Reading, time, cancellationToken);
        BeginWork();
        await WaitAsync(
            () => Volatile.Read(ref _inHand) == 0 || Volatile.Read(ref _settled) >= EnoughSettled,
            LongestWork,
            cancellationToken
        );
    }

    public void Dispose()
    {
        if (Interlocked.Exchange(ref _isOver, 1) == 1)
            return;
        BeginWork();
        leave();
    }

    private void BeginWork()
    {
        if (_read.Task.IsCompleted)
            return;
        read();
        _read.TrySetResult();
    }

    private async Task WaitAsync(Func<bool> condition, TimeSpan longest, CancellationToken cancellationToken)
    {
        for (var began = time.GetTimestamp(); !condition() && time.GetElapsedTime(began) < longest; )
            await Task.Delay(Look, time, cancellationToken);
    }
}
