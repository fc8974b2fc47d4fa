using Esb.Core.Topics;

namespace Esb.Delivery.Crashes;

/// <summary>The first moments of a queue that may hold what kills the process. What arrives waits until all that was prefetched has been
/// read, and is worked on then. Thread-safe.</summary>
/// <param name="endpoint">The endpoint.</param>
/// <param name="time">Measures the moments.</param>
/// <param name="read">Is called once, when all that was prefetched has been read: the process lives. What it dies of from here on is the
/// doing of a message.</param>
/// <param name="leave">Is called once, when they are over.</param>
internal sealed class EndpointOpening(string endpoint, TimeProvider time, Action read, Action leave) : IDisposable
{
    private const int EnoughSettled = 32;

    // A broker that is away opens nothing: the others need not wait for it.
    private static readonly TimeSpan LongestConnect = TimeSpan.FromSeconds(2);
    private static readonly TimeSpan Reading = TimeSpan.FromMilliseconds(250);
    private static readonly TimeSpan LongestWork = TimeSpan.FromSeconds(2);
    private static readonly TimeSpan Look = TimeSpan.FromMilliseconds(20);

    private readonly TaskCompletionSource _read = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private int _inHand;
    private int _settled;
    private int _isOver;

    public string Endpoint => endpoint;

    /// <summary>Works on a delivery, as soon as those that came with it have been read.</summary>
    public async ValueTask<Settlement> WorkAsync(Func<ValueTask<Settlement>> work, CancellationToken cancellationToken)
    {
        if (Volatile.Read(ref _isOver) == 1) return await work();
        Interlocked.Increment(ref _inHand);
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

    /// <summary>Waits until the queue was read for a moment, and what came was worked on: all of it, 32 deliveries, or for 2 s.</summary>
    /// <param name="isLive">Whether the queue is consumed.</param>
    /// <param name="cancellationToken">Stops waiting.</param>
    public async Task WatchAsync(Func<bool> isLive, CancellationToken cancellationToken)
    {
        await WaitAsync(isLive, LongestConnect, cancellationToken);
        await Task.Delay(Reading, time, cancellationToken);
        BeginWork();
        await WaitAsync(() => Volatile.Read(ref _inHand) == 0 || Volatile.Read(ref _settled) >= EnoughSettled, LongestWork, cancellationToken);
    }

    public void Dispose()
    {
        if (Interlocked.Exchange(ref _isOver, 1) == 1) return;
        BeginWork();
        leave();
    }

    private void BeginWork()
    {
        if (_read.Task.IsCompleted) return;
        read();
        _read.TrySetResult();
    }

    private async Task WaitAsync(Func<bool> condition, TimeSpan longest, CancellationToken cancellationToken)
    {
        for (var began = time.GetTimestamp(); !condition() && time.GetElapsedTime(began) < longest;) await Task.Delay(Look, time, cancellationToken);
    }
}
