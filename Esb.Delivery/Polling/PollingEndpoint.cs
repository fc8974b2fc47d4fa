using Esb.Core.Endpoints;
using Esb.Delivery.Intake.Overload;

namespace Esb.Delivery.Polling;

/// <summary>The result of a poll.</summary>
/// <param name="Ready">The items that may be claimed, in claiming order.</param>
/// <param name="HasMore">True if the next poll should follow soon.</param>
public sealed record PolledLook<TFound>(IReadOnlyList<TFound> Ready, bool HasMore);

/// <summary>The time of the next poll.</summary>
/// <param name="Pause">The time until the next poll.</param>
/// <param name="IsWakeable">True if a notification from the source, if it sends any, ends the pause.</param>
public readonly record struct NextLook(TimeSpan Pause, bool IsWakeable);

/// <summary>Base class of inbound endpoints that poll for messages (pattern: Polling Consumer): files, rows, mailboxes.</summary>
/// <remarks>
/// The cycle is poll, claim, hand over, put away; one poll at a time. The source is not polled while the endpoint's admission is closed (a
/// pause, a schedule, an overload, an unreachable audit). <c>singleInstance</c> creates a new instance on the host that holds the lease.
/// </remarks>
/// <param name="desk">Processes claimed items.</param>
/// <param name="admission">Controls when the source may be polled.</param>
public abstract class PollingEndpoint<TFound, TItem>(PollingDesk<TItem> desk, Admission admission) : IInboundEndpoint
    where TItem : PolledItem
{
    private readonly CancellationTokenSource _stopping = new();
    private Task _loop = Task.CompletedTask;
    private volatile string? _reason;
    private bool _isAway;

    /// <inheritdoc/>
    public virtual string? Reason => _reason;

    /// <summary>The pause after a poll that found everything.</summary>
    protected abstract TimeSpan Interval { get; }

    /// <summary>The pause after a poll that left items.</summary>
    protected abstract TimeSpan ShortInterval { get; }

    /// <inheritdoc/>
    public async Task StartAsync(CancellationToken cancellationToken)
    {
        await PrepareAsync(cancellationToken);
        _loop = Task.Run(RunAsync, CancellationToken.None);
    }

    /// <inheritdoc/>
    public async Task StopAsync(CancellationToken cancellationToken)
    {
        await _stopping.CancelAsync();
        await _loop;
        await desk.CloseAsync(cancellationToken);
    }

    /// <inheritdoc/>
    public async ValueTask DisposeAsync()
    {
        await _stopping.CancelAsync();
        await _loop;
        await desk.DisposeAsync();
        await ReleaseAsync();
        _stopping.Dispose();
        GC.SuppressFinalize(this);
    }

    /// <summary>Prepares the source before the first poll. Does not throw if the source is unreachable.</summary>
    protected virtual ValueTask PrepareAsync(CancellationToken cancellationToken) => ValueTask.CompletedTask;

    /// <summary>Ensures that items can be claimed, and takes over the claims of dead hosts.</summary>
    protected abstract ValueTask<IReadOnlyList<TItem>> OpenAsync(CancellationToken cancellationToken);

    /// <summary>Polls the source once.</summary>
    protected abstract ValueTask<PolledLook<TFound>> LookAsync(CancellationToken cancellationToken);

    /// <summary>Claims an item for this host; null if it no longer exists or cannot be claimed.</summary>
    protected abstract ValueTask<TItem?> ClaimAsync(TFound found, CancellationToken cancellationToken);

    /// <summary>True if a failure shows that the source is unreachable.</summary>
    protected abstract bool IsAway(Exception failure);

    /// <summary>Reports that the source is unreachable.</summary>
    /// <param name="cause">The failure.</param>
    /// <param name="isFirst">True if the source was reachable before; the outage is logged once.</param>
    /// <returns>The pause before the next attempt.</returns>
    protected abstract TimeSpan OnAway(Exception cause, bool isFirst);

    /// <summary>Says why the source cannot be polled, brief, beginning with a code.</summary>
    protected virtual string ReasonOf(Exception cause) => PollingFailure.Describe(cause);

    /// <summary>Reports that the source is reachable again.</summary>
    protected abstract void OnBack();

    /// <summary>Waits until the next poll.</summary>
    protected abstract Task WaitAsync(NextLook next, CancellationToken cancellationToken);

    /// <summary>Releases the source and its claims after all processing has ended.</summary>
    protected virtual ValueTask ReleaseAsync() => ValueTask.CompletedTask;

    private async Task RunAsync()
    {
        try
        {
            while (true)
                await WaitAsync(await TryLookAsync(), _stopping.Token);
        }
        catch (OperationCanceledException) when (_stopping.IsCancellationRequested)
        {
            // Stopped.
        }
    }

    private async Task<NextLook> TryLookAsync()
    {
        try
        {
            var next = await WorkAsync();
            if (_isAway)
                OnBack();
            (_isAway, _reason) = (false, null);
            return next;
        }
        catch (Exception ex) when (IsAway(ex))
        {
            var isFirst = !_isAway;
            (_isAway, _reason) = (true, ReasonOf(ex));
            return new NextLook(OnAway(ex, isFirst), IsWakeable: false);
        }
    }

    private async Task<NextLook> WorkAsync()
    {
        await admission.WaitAsync(_stopping.Token); // an item claimed now would only wait here
        admission.Leave();
        foreach (var item in (IEnumerable<TItem>)[.. await OpenAsync(_stopping.Token), .. desk.TakeDue()])
            await desk.TakeAsync(() => ValueTask.FromResult<TItem?>(item), _stopping.Token);
        if (desk.IsFull)
            return new NextLook(ShortInterval, IsWakeable: false);

        var look = await LookAsync(_stopping.Token);
        foreach (var found in look.Ready.TakeWhile(_ => !desk.IsFull))
            await desk.TakeAsync(() => ClaimAsync(found, _stopping.Token), _stopping.Token);
        return look.HasMore || desk.HasWaiting ? new NextLook(ShortInterval, IsWakeable: false) : new NextLook(Interval, IsWakeable: true);
    }
}
