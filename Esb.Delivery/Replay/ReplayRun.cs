using Esb.Core.Errors;
using Esb.Core.Replays;
using Esb.Core.Storage;
using Microsoft.Extensions.Logging;

namespace Esb.Delivery.Replay;

/// <summary>Processes one replay job until its letters are sent, an operator stops it, or the host stops: group by group, each marked only
/// after the confirm.</summary>
internal sealed partial class ReplayRun(ReplayClaim claim, ReplayServices services)
{
    // The maximum number of letters that a crashed host leaves sent but unmarked, to be sent again.
    private const int MaxGroup = 50;

    // A share of very few letters is not significant.
    private const int SmallestSample = 10;

    private static readonly TimeSpan StorePause = TimeSpan.FromSeconds(2);

    private readonly ILogger _logger = services.Loggers.CreateLogger<ReplayRun>();
    private readonly ReplayBatches _batches = new(claim.Job.Request);

    private ReplayRequest Request => claim.Job.Request;

    public async Task RunAsync(CancellationToken stopping)
    {
        LogTaken(claim.Job.Id);
        await using var watch = new ReplayWatch(claim, services, stopping);
        var sender = new ReplaySender(claim.Job, services, watch);
        while (true)
        {
            try
            {
                if (await StepAsync(sender, watch))
                    return;
            }
            catch (OperationCanceledException) when (watch.Ended.IsCancellationRequested)
            {
                await LetGoAsync(watch);
                return;
            }
            catch (EsbException ex)
            {
                await HoldUpAsync(watch, ex.Message);
            }
            catch (Exception ex)
            {
                LogUnforeseen(claim.Job.Id, ex); // without the catch the job would end but appear to run
                await HoldUpAsync(watch, $"It failed in a way that nobody foresaw: {ex.GetType().Name}.");
            }
        }
    }

    private async Task HoldUpAsync(ReplayWatch watch, string trouble)
    {
        LogHeldUp(claim.Job.Id, trouble);
        watch.Trouble = trouble;
        await Task.Delay(StorePause, services.Time, watch.Ended).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
    }

    // Returns true if the job is done or stopped.
    private async Task<bool> StepAsync(ReplaySender sender, ReplayWatch watch)
    {
        if (_batches.Left <= 0)
            await PauseAsync(watch);
        else
            await watch.LookAsync();
        if (ShareOf(watch.Job) is { } share && share >= Request.StopAtFailureShare)
        {
            var reason = $"{share:P0} of the letters sent came back.";
            await services.Jobs.ReleaseAsync(claim, ReplayState.Stopped, reason, CancellationToken.None);
            LogStopped(claim.Job.Id, reason);
            return true;
        }

        var group = await services.Jobs.NextAsync(claim, Math.Min(_batches.Left, GroupSize()), watch.Ended);
        if (group.Count == 0)
        {
            await services.Jobs.ReleaseAsync(claim, ReplayState.Completed, null, CancellationToken.None);
            LogCompleted(claim.Job.Id, watch.Job.Replayed, watch.Job.Failed);
            return true;
        }

        await SendAsync(sender, group, watch.Ended);
        return false;
    }

    // Between two batches, to detect letters that come back.
    private async Task PauseAsync(ReplayWatch watch)
    {
        var failedBefore = watch.Job.Failed;
        await Task.Delay(Request.BatchPause, services.Time, watch.Ended);
        await watch.LookAsync();
        _batches.Begin(cameBack: watch.Job.Failed > failedBefore);
    }

    private async Task SendAsync(ReplaySender sender, IReadOnlyList<DeadLetterSummary> group, CancellationToken ended)
    {
        var sent = new List<Guid>(group.Count);
        try
        {
            await sender.SendAsync(group, sent, ended);
        }
        finally
        {
            _batches.CountSent(sent.Count);
            if (sent.Count > 0)
                await services.Jobs.MarkAsync(claim, sent, CancellationToken.None);
        }
    }

    private async Task LetGoAsync(ReplayWatch watch)
    {
        try
        {
            if (!watch.IsLost)
                await services.Jobs.ReleaseAsync(claim, ReplayState.Running, watch.Trouble, CancellationToken.None);
        }
        catch (EsbException ex)
        {
            LogHeldUp(claim.Job.Id, ex.Message); // another host takes the job over after a while
        }
    }

    // Short, so that an operator's command takes effect soon.
    private int GroupSize() => Request.Rate is { } rate ? (int)Math.Clamp(rate / 4, 1, MaxGroup) : MaxGroup;

    private static double? ShareOf(ReplayJob job)
    {
        var sent = job.Replayed - job.ReplayedBefore;
        return sent >= Math.Min(SmallestSample, job.Total) ? (double)(job.Failed - job.FailedBefore) / sent : null;
    }

    [LoggerMessage(EventId = 2620, Level = LogLevel.Information, Message = "Replay job {Job} runs on this host")]
    private partial void LogTaken(Guid job);

    [LoggerMessage(
        EventId = 2621,
        Level = LogLevel.Information,
        Message = "Replay job {Job} has sent its letters: {Replayed}; {Failed} of them failed again so far"
    )]
    private partial void LogCompleted(Guid job, long replayed, long failed);

    [LoggerMessage(EventId = 2622, Level = LogLevel.Warning, Message = "Replay job {Job} stopped: {Reason}")]
    private partial void LogStopped(Guid job, string reason);

    [LoggerMessage(EventId = 2624, Level = LogLevel.Error, Message = "Replay job {Job} failed; it is tried again")]
    private partial void LogUnforeseen(Guid job, Exception exception);

    [LoggerMessage(EventId = 2623, Level = LogLevel.Warning, Message = "Replay job {Job} is delayed: {Reason}")]
    private partial void LogHeldUp(Guid job, string reason);
}
