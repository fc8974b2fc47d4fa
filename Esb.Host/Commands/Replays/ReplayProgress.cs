using Esb.Core.Messages;
using Esb.Core.Replays;
using Esb.Host.Management.DeadLetters;

namespace Esb.Host.Commands.Replays;

/// <summary>Waits for a replay job and prints its progress at intervals.</summary>
internal static class ReplayProgress
{
    private static readonly TimeSpan Interval = TimeSpan.FromMilliseconds(500);
    private static readonly TimeSpan LineInterval = TimeSpan.FromSeconds(2);

    /// <returns><see cref="ExitCode.Done"/> when all letters were sent and not all of them came back; otherwise the job failed so, or was
    /// paused, stopped or cancelled.</returns>
    public static async Task<int> WaitAsync(ManagementClient client, Guid id, CommandContext context, CancellationToken cancellationToken)
    {
        try
        {
            return await FollowAsync(client, id, context, cancellationToken);
        }
        catch (OperationCanceledException) when (cancellationToken.IsCancellationRequested)
        {
            context.Error.WriteLine($"the job goes on: esb replays show {id}, esb replays cancel {id}");
            throw;
        }
    }

    private static async Task<int> FollowAsync(
        ManagementClient client,
        Guid id,
        CommandContext context,
        CancellationToken cancellationToken
    )
    {
        var lastLine = context.Time.GetTimestamp();
        while (true)
        {
            var job = await client.GetAsync<ReplayJobView>($"api/replays/{id}", cancellationToken);
            if (job.State != ReplayState.Running)
            {
                context.Output.WriteLine(
                    $"{CommandJson.NameOf(job.State)}: {job.Replayed} of {job.Total} sent, {job.Failed} came "
                        + $"back{(job.Trouble is null ? "" : $"; {SafeText.Of(job.Trouble, int.MaxValue)}")}"
                );
                return job.State == ReplayState.Completed && (job.Failed == 0 || job.Failed < job.Replayed)
                    ? ExitCode.Done
                    : ExitCode.Failed;
            }

            if (context.Time.GetElapsedTime(lastLine) > LineInterval)
            {
                lastLine = context.Time.GetTimestamp();
                context.Error.WriteLine(
                    $"{job.Replayed} of {job.Total} sent, {job.Failed} came "
                        + $"back{(job.Trouble is null ? "" : $"; {SafeText.Of(job.Trouble, int.MaxValue)}")}"
                );
            }

            await Task.Delay(Interval, context.Time, cancellationToken);
        }
    }
}
