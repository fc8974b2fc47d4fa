using Esb.Core.Replays;

namespace Esb.Delivery.Replay;

/// <summary>Says, again and again, that the job is worked on here, and hears when that has to end: paused, cancelled, taken by another host, or this host stops.</summary>
internal sealed class ReplayWatch : IAsyncDisposable
{
    private static readonly TimeSpan Interval = ReplayClaim.Patience / 3;

    private readonly ReplayClaim _claim;
    private readonly ReplayServices _services;
    private readonly CancellationTokenSource _ended;
    private readonly CancellationTokenSource _disposing = new();
    private readonly Task _renewing;
    private long _heard;

    public ReplayWatch(ReplayClaim claim, ReplayServices services, CancellationToken stopping)
    {
        _claim = claim;
        _services = services;
        _ended = CancellationTokenSource.CreateLinkedTokenSource(stopping);
        _heard = services.Time.GetTimestamp();
        Job = claim.Job;
        _renewing = RenewAsync();
    }

    /// <summary>The job as it was last seen.</summary>
    public ReplayJob Job { get; private set; }

    /// <summary>What is in the way right now; operators see it.</summary>
    public string? Trouble { get; set; }

    /// <summary>Whether another host may have the job.</summary>
    public bool IsLost { get; private set; }

    /// <summary>Cancelled when no further letter may be sent from here.</summary>
    public CancellationToken Ended => _ended.Token;

    /// <summary>Looks how the job stands.</summary>
    /// <exception cref="OperationCanceledException">It is not to be worked on here any more.</exception>
    public async Task LookAsync()
    {
        var job = await _services.Jobs.RenewAsync(_claim, Trouble, _ended.Token);
        _heard = _services.Time.GetTimestamp();
        if (job is null) IsLost = true;
        else Job = job;
        if (job?.State != ReplayState.Running) await _ended.CancelAsync();
        _ended.Token.ThrowIfCancellationRequested();
    }

    public async ValueTask DisposeAsync()
    {
        await _disposing.CancelAsync();
        await _renewing;
        _disposing.Dispose();
        _ended.Dispose();
    }

    private async Task RenewAsync()
    {
        using var either = CancellationTokenSource.CreateLinkedTokenSource(_disposing.Token, _ended.Token);
        while (!either.IsCancellationRequested)
        {
            await Task.Delay(Interval, _services.Time, either.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            if (either.IsCancellationRequested) return;
            try
            {
                await LookAsync();
            }
            catch (OperationCanceledException) when (_ended.IsCancellationRequested)
            {
                return;
            }
            catch (Exception) // whoever works on the job meets it too, and tells
            {
                if (_services.Time.GetElapsedTime(_heard) < ReplayClaim.Patience) continue;
                IsLost = true; // others have not heard of us for so long that they may have taken it
                await _ended.CancelAsync();
            }
        }
    }
}
