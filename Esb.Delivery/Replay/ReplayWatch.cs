using Esb.Core.Replays;

namespace Esb.Delivery.Replay;

/// <summary>Renews the claim on a job periodically, and detects when work must end: the job is paused, cancelled or taken by another host,
/// or this host stops.</summary>
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

    /// <summary>The last known state of the job.</summary>
    public ReplayJob Job { get; private set; }

    /// <summary>The current obstacle, shown to operators.</summary>
    public string? Trouble { get; set; }

    /// <summary>True if another host may have taken the job.</summary>
    public bool IsLost { get; private set; }

    /// <summary>Cancelled when this host must send no further letters.</summary>
    public CancellationToken Ended => _ended.Token;

    /// <summary>Renews the claim and reads the state of the job.</summary>
    /// <exception cref="OperationCanceledException">This host must no longer process the job.</exception>
    public async Task LookAsync()
    {
        var job = await _services.Jobs.RenewAsync(_claim, Trouble, _ended.Token);
        _heard = _services.Time.GetTimestamp();
        if (job is null)
            IsLost = true;
        else
            Job = job;
        if (job?.State != ReplayState.Running)
            await _ended.CancelAsync();
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
            if (either.IsCancellationRequested)
                return;
            try
            {
                await LookAsync();
            }
            catch (OperationCanceledException) when (_ended.IsCancellationRequested)
            {
                return;
            }
            catch (Exception) // the run meets the same failure and reports it
            {
                if (_services.Time.GetElapsedTime(_heard) < ReplayClaim.Patience)
                    continue;
                IsLost = true; // the claim has expired, so another host may have taken the job
                await _ended.CancelAsync();
            }
        }
    }
}
