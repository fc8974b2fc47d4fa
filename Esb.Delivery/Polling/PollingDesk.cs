using System.Collections.Concurrent;
using Esb.Core.Errors;
using Esb.Delivery.Intake.Overload;

namespace Esb.Delivery.Polling;

/// <summary>Works on claimed items of a polled source, a number of them at once: hands each over, waits until its message has arrived, puts
/// it away; or lets it wait and tries
/// again. Thread-safe.</summary>
/// <remarks>An item is put away only once its message has arrived or was refused, so a crash at any point loses none; what it may do is
/// hand one over again, as the same message.</remarks>
/// <param name="admission">Says when, and how many at once.</param>
/// <param name="time">Measures the pauses of items that wait.</param>
public abstract class PollingDesk<TItem>(Admission admission, TimeProvider time) : IAsyncDisposable
    where TItem : PolledItem
{
    private const int MostWaiting = 100; // while the bus takes nothing, the others stay where everybody sees them

    private static readonly TimeSpan LongestSettling = TimeSpan.FromSeconds(5); // longer takes only what is delivered again later

    private readonly ConcurrentDictionary<Guid, Task> _underWay = new();
    private readonly WaitingItems<TItem> _waiting = new(time);
    private readonly CancellationTokenSource _abandoned = new();

    /// <summary>Whether so many items wait that no others should be claimed.</summary>
    public bool IsFull => _waiting.Count >= MostWaiting;

    /// <summary>Whether items wait to be tried again.</summary>
    public bool HasWaiting => _waiting.Count > 0;

    /// <summary>Takes out the items to be tried again now.</summary>
    public IReadOnlyList<TItem> TakeDue() => _waiting.TakeDue();

    /// <summary>Claims an item as soon as one may be worked on, and begins to work on it; nothing where it could not be claimed.</summary>
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
            if (item is null) admission.Leave();
        }

        if (item is not null) Track(item.MessageId, WorkAsync(item));
    }

    /// <summary>Waits until nothing is handed over any more, and a short time for messages to arrive.</summary>
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
    /// <returns>Completes when its message has arrived.</returns>
    protected abstract Task<Task> HandOverAsync(TItem item, CancellationToken cancellationToken);

    /// <summary>Takes an item whose message has arrived, or was refused, out of the source.</summary>
    protected abstract ValueTask PutAwayAsync(TItem item);

    /// <summary>Whether a failure says that the item has gone.</summary>
    protected abstract bool IsGone(Exception failure);

    /// <summary>Whether a failure of the source to read an item may pass.</summary>
    protected abstract bool MayPass(Exception failure);

    /// <summary>Whether a failure of the source to put an item away may pass: only that is tried again.</summary>
    protected abstract bool MayPassLater(Exception failure);

    /// <summary>Logs that an item is tried again; called at its first failure.</summary>
    protected abstract void OnWaiting(TItem item, Exception cause);

    /// <summary>Logs that an item was refused.</summary>
    protected abstract void OnRefused(TItem item, EsbException cause);

    /// <summary>Logs a failure that nobody foresaw.</summary>
    /// <returns>The refusal that the item is put away with.</returns>
    protected abstract PolledRefusal OnFailed(TItem item, Exception cause);

    /// <summary>Logs that an item could not be put away; called the first time.</summary>
    protected abstract void OnNotPutAway(TItem item, Exception cause);

    /// <summary>Logs that an item has gone.</summary>
    protected abstract void OnGone(TItem item, Exception cause);

    /// <summary>Logs how many items stay claimed at the end.</summary>
    protected abstract void OnLeft(int count);

    private void Track(Guid id, Task work)
    {
        if (work.IsCompleted) return;
        _underWay[id] = work;
        _ = work.ContinueWith(done => _underWay.TryRemove(new(id, done)), TaskScheduler.Default);
    }

    private async Task WorkAsync(TItem item)
    {
        if (await JudgeAsync(item) is not { } judged) return;
        try
        {
            await PutAwayAsync(judged);
        }
        catch (Exception ex) when (MayPassLater(ex))
        {
            if (judged.Failures == 0) OnNotPutAway(judged, ex);
            _waiting.Add(judged.Refusal is null ? (TItem)judged.MarkArrived() : judged);
        }
    }

    /// <summary>Finds out what becomes of an item; null where it stays claimed.</summary>
    private async Task<TItem?> JudgeAsync(TItem item)
    {
        try
        {
            var settled = await HandOverOnceAsync(item);
            return await IsSettledAsync(item, settled) ? item : null;
        }
        catch (OperationCanceledException) when (_abandoned.IsCancellationRequested)
        {
            return null; // whoever starts next takes it up, as the same message
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
            LetWait(item, ex); // the transport gave up before every subscriber had it
            return false;
        }
    }

    private void LetWait(TItem item, Exception cause)
    {
        if (item.Failures == 0) OnWaiting(item, cause);
        _waiting.Add(item);
    }
}
