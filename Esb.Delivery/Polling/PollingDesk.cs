using System.Collections.Concurrent;
using Esb.Core.Errors;
using Esb.Delivery.Intake.Overload;

namespace Esb.Delivery.Polling;

/// <summary>Processes claimed items of a polled source, several concurrently: hands each over, waits until its message has arrived, and
/// puts it away; or delays it and retries. Thread-safe.</summary>
/// <remarks>An item is put away only after its message has arrived or was refused. A crash therefore loses no item, but may hand one over
/// again, as the same message.</remarks>
/// <param name="admission">Controls the time and the concurrency of the work.</param>
/// <param name="time">The clock of the retry pauses.</param>
public abstract class PollingDesk<TItem>(Admission admission, TimeProvider time) : IAsyncDisposable
    where TItem : PolledItem
{
    private const int MostWaiting = 100; // while the bus accepts nothing, further items stay visible in the source

    private static readonly TimeSpan LongestSettling = TimeSpan.FromSeconds(5); // anything slower is redelivered later

    private readonly ConcurrentDictionary<Guid, Task> _underWay = new();
    private readonly WaitingItems<TItem> _waiting = new(time);
    private readonly CancellationTokenSource _abandoned = new();

    /// <summary>True if the maximum number of items waits, so that no further items are claimed.</summary>
    public bool IsFull => _waiting.Count >= MostWaiting;

    /// <summary>True if items wait for a retry.</summary>
    public bool HasWaiting => _waiting.Count > 0;

    /// <summary>Removes and returns the items due for a retry.</summary>
    public IReadOnlyList<TItem> TakeDue() => _waiting.TakeDue();

    /// <summary>Claims an item once the admission allows it, and starts processing it. Does nothing if the claim fails.</summary>
    public async Task TakeAsync(Func<ValueTask<TItem?>> claim, CancellationToken cancellationToken)
    {
        await admission.WaitAsync(cancellationToken);
        TItem? item = null;
        try
        {
            item = await claim();
        }
        finally
        {
            if (item is null)
                admission.Leave();
        }

        if (item is not null)
            Track(item.MessageId, WorkAsync(item));
    }

    /// <summary>Waits until all hand-overs have ended, and a short time for messages to arrive.</summary>
    public async Task CloseAsync(CancellationToken cancellationToken)
    {
        await using var abandon = cancellationToken.Register(_abandoned.Cancel);
        await admission.DrainAsync(CancellationToken.None);
        try
        {
            await Task.WhenAll(_underWay.Values).WaitAsync(LongestSettling, time, cancellationToken);
        }
        catch (Exception ex) when (ex is TimeoutException or OperationCanceledException)
        {
            OnLeft(_underWay.Count);
        }
    }

    /// <inheritdoc/>
    public async ValueTask DisposeAsync()
    {
        await _abandoned.CancelAsync();
        await Task.WhenAll(_underWay.Values);
        _abandoned.Dispose();
        GC.SuppressFinalize(this);
    }

    /// <summary>Hands an item over.</summary>
    /// <returns>A task that completes when the message has arrived.</returns>
    protected abstract Task<Task> HandOverAsync(TItem item, CancellationToken cancellationToken);

    /// <summary>Removes an item from the source after its message has arrived or was refused.</summary>
    protected abstract ValueTask PutAwayAsync(TItem item);

    /// <summary>True if a failure shows that the item no longer exists.</summary>
    protected abstract bool IsGone(Exception failure);

    /// <summary>True if a failure to read an item from the source may be temporary.</summary>
    protected abstract bool MayPass(Exception failure);

    /// <summary>True if a failure to put an item away may be temporary: only that step is retried.</summary>
    protected abstract bool MayPassLater(Exception failure);

    /// <summary>Logs that an item will be retried; called at its first failure.</summary>
    protected abstract void OnWaiting(TItem item, Exception cause);

    /// <summary>Logs that an item was refused.</summary>
    protected abstract void OnRefused(TItem item, EsbException cause);

    /// <summary>Logs an unexpected failure.</summary>
    /// <returns>The refusal under which the item is put away.</returns>
    protected abstract PolledRefusal OnFailed(TItem item, Exception cause);

    /// <summary>Logs that an item could not be put away; called at the first failure.</summary>
    protected abstract void OnNotPutAway(TItem item, Exception cause);

    /// <summary>Logs that an item no longer exists.</summary>
    protected abstract void OnGone(TItem item, Exception cause);

    /// <summary>Logs the number of items that remain claimed at the end.</summary>
    protected abstract void OnLeft(int count);

    private void Track(Guid id, Task work)
    {
        if (work.IsCompleted)
            return;
        _underWay[id] = work;
        _ = work.ContinueWith(done => _underWay.TryRemove(new(id, done)), TaskScheduler.Default);
    }

    private async Task WorkAsync(TItem item)
    {
        if (await JudgeAsync(item) is not { } judged)
            return;
        try
        {
            await PutAwayAsync(judged);
        }
        catch (Exception ex) when (MayPassLater(ex))
        {
            if (judged.Failures == 0)
                OnNotPutAway(judged, ex);
            _waiting.Add(judged.Refusal is null ? (TItem)judged.MarkArrived() : judged);
        }
    }

    /// <summary>Determines the outcome of an item; null if it stays claimed.</summary>
    private async Task<TItem?> JudgeAsync(TItem item)
    {
        try
        {
            var settled = await HandOverOnceAsync(item);
            return await IsSettledAsync(item, settled) ? item : null;
        }
        catch (OperationCanceledException) when (_abandoned.IsCancellationRequested)
        {
            return null; // claimed again after a restart, as the same message
        }
        catch (Exception ex) when (IsGone(ex))
        {
            OnGone(item, ex);
            return null;
        }
        catch (Exception ex) when (MayPass(ex) || ex is OperationCanceledException or EsbException { IsTransient: true })
        {
            LetWait(item, ex);
            return null;
        }
        catch (EsbException ex)
        {
            OnRefused(item, ex);
            return item with { Refusal = new PolledRefusal(ex.Code, ex.Message) };
        }
        catch (Exception ex)
        {
            return item with { Refusal = OnFailed(item, ex) };
        }
    }

    private async Task<Task> HandOverOnceAsync(TItem item)
    {
        try
        {
            var isDecided = item.HasArrived || item.Refusal is not null;
            return isDecided ? Task.CompletedTask : await HandOverAsync(item, _abandoned.Token);
        }
        finally
        {
            admission.Leave();
        }
    }

    private async Task<bool> IsSettledAsync(TItem item, Task settled)
    {
        try
        {
            await settled.WaitAsync(_abandoned.Token);
            return true;
        }
        catch (Exception ex) when (!_abandoned.IsCancellationRequested)
        {
            LetWait(item, ex); // the transport gave up before every subscriber had the message
            return false;
        }
    }

    private void LetWait(TItem item, Exception cause)
    {
        if (item.Failures == 0)
            OnWaiting(item, cause);
        _waiting.Add(item);
    }
}
