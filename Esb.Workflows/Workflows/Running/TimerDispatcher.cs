using Esb.Core.Errors;
using Esb.Core.Storage;
using Microsoft.Extensions.Logging;

namespace Esb.Workflows.Workflows.Running;

/// <summary>Claims due timers in batches and hands them over. A timer is removed by the change that is its effect; one whose host ends
/// before is claimed by another when its claim is over. Thread-safe.</summary>
/// <param name="store">The timers.</param>
/// <param name="kinds">The kinds that are handed over.</param>
/// <param name="fire">Handles one timer; it throws where the timer has to be tried again.</param>
/// <param name="time">The clock.</param>
/// <param name="logger">Logs failures.</param>
internal sealed partial class TimerDispatcher(
    ITimerStore store,
    IReadOnlyList<string> kinds,
    Func<StoredTimer, CancellationToken, Task> fire,
    TimeProvider time,
    ILogger<TimerDispatcher> logger
) : IAsyncDisposable
{
    private const int Batch = 500;
    private const int AtOnce = 64;

    private static readonly TimeSpan Claim = TimeSpan.FromSeconds(30);
    private static readonly TimeSpan LongestPause = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan ShortestPause = TimeSpan.FromMilliseconds(5);

    private readonly CancellationTokenSource _stopping = new();
    private readonly SemaphoreSlim _slots = new(AtOnce, AtOnce);
    private readonly SemaphoreSlim _news = new(0, 1);
    private Task _running = Task.CompletedTask;
    private int _underWay;

    public void Start() => _running = Task.Run(RunAsync);

    /// <summary>Looks again when a timer is due sooner than expected.</summary>
    public void Expect(TimeSpan due)
    {
        if (due >= LongestPause)
            return;
        try
        {
            _news.Release();
        }
        catch (SemaphoreFullException)
        {
            // It looks again anyway.
        }
    }

    /// <summary>Hands a timer over that this host has just stored for itself.</summary>
    public void Fire(StoredTimer timer) => _ = FireAsync(timer);

    public async ValueTask DisposeAsync()
    {
        await _stopping.CancelAsync();
        await _running;
        while (Volatile.Read(ref _underWay) > 0)
            await Task.Delay(ShortestPause);
    }

    private async Task RunAsync()
    {
        while (!_stopping.IsCancellationRequested)
        {
            var pause = LongestPause;
            try
            {
                var claimed = await store.ClaimAsync(kinds, Batch, Claim, _stopping.Token);
                var claimedAt = time.GetTimestamp();
                foreach (var timer in claimed.Timers)
                {
                    await _slots.WaitAsync(_stopping.Token);
                    WorkflowsTelemetry.TimeTimer(timer.Kind, timer.Late + time.GetElapsedTime(claimedAt));
                    _ = FireInSlotAsync(timer);
                }

                if (claimed.Next is { } next && next < LongestPause)
                    pause = next;
            }
            catch (Exception ex) when (ex is EsbException or OperationCanceledException)
            {
                if (!_stopping.IsCancellationRequested)
                    LogNotClaimed(ex.Message);
            }

            await WaitAsync(pause);
        }
    }

    private async Task WaitAsync(TimeSpan pause)
    {
        if (pause <= TimeSpan.Zero)
            return;
        using var waiting = CancellationTokenSource.CreateLinkedTokenSource(_stopping.Token);
        var news = _news.WaitAsync(waiting.Token);
        await Task.WhenAny(news, Task.Delay(pause < ShortestPause ? ShortestPause : pause, time, waiting.Token));
        await waiting.CancelAsync();
        await news.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
    }

    private async Task FireInSlotAsync(StoredTimer timer)
    {
        try
        {
            await FireAsync(timer);
        }
        finally
        {
            _slots.Release();
        }
    }

    private async Task FireAsync(StoredTimer timer)
    {
        Interlocked.Increment(ref _underWay);
        try
        {
            await Task.Yield();
            await fire(timer, _stopping.Token);
        }
        catch (OperationCanceledException) when (_stopping.IsCancellationRequested)
        {
            // Another host, or the next start, fires it when the claim is over.
        }
        catch (Exception ex)
        {
            LogNotFired(timer.Kind, timer.Target, ex);
        }
        finally
        {
            Interlocked.Decrement(ref _underWay);
        }
    }

    [LoggerMessage(EventId = 3023, Level = LogLevel.Warning, Message = "Timers could not be claimed: {Reason}")]
    private partial void LogNotClaimed(string reason);

    [LoggerMessage(EventId = 3024, Level = LogLevel.Warning, Message = "The timer {Kind} of {Target} had no effect yet; it is tried again")]
    private partial void LogNotFired(string kind, string target, Exception exception);
}
