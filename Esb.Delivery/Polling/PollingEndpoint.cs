using Esb.Core.Endpoints;
using Esb.Delivery.Intake.Overload;

namespace Esb.Delivery.Polling;

/// <summary>What a look at a polled source found.</summary>
/// <param name="Ready">What may be claimed, in the order in which it should be.</param>
/// <param name="HasMore">Whether to look again soon.</param>
public sealed record PolledLook<TFound>(IReadOnlyList<TFound> Ready, bool HasMore);

/// <summary>When a polled source is looked at next.</summary>
/// <param name="Pause">The time until then.</param>
/// <param name="IsWakeable">Whether a sign of the source, where it gives one, ends the pause.</param>
public readonly record struct NextLook(TimeSpan Pause, bool IsWakeable);

/// <summary>Base of inbound endpoints that look for messages themselves (pattern: Polling Consumer): files, rows, mailboxes.</summary>
/// <remarks>
/// Look, claim, hand over, put away; one look at a time. While the endpoint's admission lets nothing in (a pause, a schedule, an overload,
/// an audit that is away), nothing is
/// looked for. <c>singleInstance</c> makes a new instance on the host that has the lease.
/// </remarks>
/// <param name="desk">Works on what was claimed.</param>
/// <param name="admission">Says when the source may be looked at.</param>
public abstract class PollingEndpoint<TFound, TItem>(PollingDesk<TItem> desk, Admission admission) : IInboundEndpoint
    where TItem : PolledItem
{
    private readonly CancellationTokenSource _stopping = new();
    private Task _loop = Task.CompletedTask;
    private bool _isAway;

    /// <summary>The pause after a look that found everything.</summary>
    protected abstract TimeSpan Interval { get; }

    /// <summary>The pause after a look that left something.</summary>
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

    /// <summary>Prepares the source at the start, before the first look. Does not throw because the source is away.</summary>
    protected virtual ValueTask PrepareAsync(CancellationToken cancellationToken) => ValueTask.CompletedTask;

    /// <summary>Makes sure that items can be claimed, and takes over what hosts had claimed that no longer live.</summary>
    protected abstract ValueTask<IReadOnlyList<TItem>> OpenAsync(CancellationToken cancellationToken);

    /// <summary>Looks at the source once.</summary>
    protected abstract ValueTask<PolledLook<TFound>> LookAsync(CancellationToken cancellationToken);

    /// <summary>Claims what was found for this host alone; null where it has gone, or may not be had.</summary>
    protected abstract ValueTask<TItem?> ClaimAsync(TFound found, CancellationToken cancellationToken);

    /// <summary>Whether a failure says that the source cannot be reached now.</summary>
    protected abstract bool IsAway(Exception failure);

    /// <summary>The source cannot be reached.</summary>
    /// <param name="cause">Why.</param>
    /// <param name="isFirst">Whether it could be before: said once.</param>
    /// <returns>The pause until it is tried again.</returns>
    protected abstract TimeSpan OnAway(Exception cause, bool isFirst);

    /// <summary>The source can be reached again.</summary>
    protected abstract void OnBack();

    /// <summary>Waits until the next look.</summary>
    protected abstract Task WaitAsync(NextLook next, CancellationToken cancellationToken);

    /// <summary>Lets go of the source and of the claims on it; nothing is worked on any more.</summary>
    protected virtual ValueTask ReleaseAsync() => ValueTask.CompletedTask;

    private async Task RunAsync()
    {
        try
        {
            while (true) await WaitAsync(await TryLookAsync(), _stopping.Token);
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
            if (_isAway) OnBack();
            _isAway = false;
            return next;
        }
        catch (Exception ex) when (IsAway(ex))
        {
            var isFirst = !_isAway;
            _isAway = true;
            return new NextLook(OnAway(ex, isFirst), IsWakeable: false);
        }
    }

    private async Task<NextLook> WorkAsync()
    {
        await admission.WaitAsync(_stopping.Token); // nothing is claimed, nor looked for, that would wait here
        admission.Leave();
        foreach (var item in (IEnumerable<TItem>)[.. await OpenAsync(_stopping.Token), .. desk.TakeDue()])
            await desk.TakeAsync(() => ValueTask.FromResult<TItem?>(item), _stopping.Token);
        if (desk.IsFull) return new NextLook(ShortInterval, IsWakeable: false);

        var look = await LookAsync(_stopping.Token);
        foreach (var found in look.Ready.TakeWhile(_ => !desk.IsFull)) await desk.TakeAsync(() => ClaimAsync(found, _stopping.Token), _stopping.Token);
        return look.HasMore || desk.HasWaiting ? new NextLook(ShortInterval, IsWakeable: false) : new NextLook(Interval, IsWakeable: true);
    }
}
