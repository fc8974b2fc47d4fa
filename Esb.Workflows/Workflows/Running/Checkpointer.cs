using System.Diagnostics;
using System.Threading.Channels;
using Esb.Core.Errors;
using Esb.Core.Workflows;

namespace Esb.Workflows.Workflows.Running;

/// <summary>Stores the checkpoints of many instances in one commit: while one group is being stored, the next one gathers.
/// Thread-safe.</summary>
internal sealed class Checkpointer(IWorkflowStore store, RecentChanges changes) : IAsyncDisposable
{
    private const int MostInGroup = 256;

    // Bounded by the lanes, the timers in work and the callers, each of which waits for its checkpoint.
    private readonly Channel<Pending> _waiting = Channel.CreateUnbounded<Pending>(new UnboundedChannelOptions { SingleReader = true });

    private Task? _running;

    /// <summary>Stores a checkpoint; it is durable when this returns.</summary>
    /// <exception cref="EsbException">It is not known to be stored.</exception>
    public async Task<CommitResult> CommitAsync(WorkflowCommit commit)
    {
        EnsureRunning();
        var begun = Stopwatch.GetTimestamp();
        var pending = new Pending(commit);
        if (!_waiting.Writer.TryWrite(pending))
            throw new EsbException("ESB-STORE-AWAY", "The host is stopping.", FaultKind.Unavailable);
        var result = await pending.Done.Task;
        if (result.Outcome == CommitOutcome.Committed && commit.Instance is { } stored)
        {
            WorkflowsTelemetry.TimeCheckpoint(commit.Workflow, Stopwatch.GetElapsedTime(begun));
            changes.Note(stored);
        }

        return result;
    }

    public async ValueTask DisposeAsync()
    {
        _waiting.Writer.TryComplete();
        if (_running is { } running)
            await running;
    }

    private void EnsureRunning()
    {
        if (_running is not null)
            return;
        lock (_waiting)
            _running ??= Task.Run(RunAsync);
    }

    private async Task RunAsync()
    {
        var group = new List<Pending>(MostInGroup);
        while (await _waiting.Reader.WaitToReadAsync())
        {
            while (group.Count < MostInGroup && _waiting.Reader.TryRead(out var pending))
                group.Add(pending);
            await StoreAsync(group);
            group.Clear();
        }
    }

    private async Task StoreAsync(List<Pending> group)
    {
        try
        {
            var results = await store.CommitAsync([.. group.Select(pending => pending.Commit)], CancellationToken.None);
            for (var i = 0; i < group.Count; i++)
                group[i].Done.SetResult(results[i]);
            WorkflowsTelemetry.CountCommit(group.Count);
        }
        catch (Exception ex)
        {
            var failure =
                ex as EsbException ?? new EsbException("ESB-STORE-WRITE", "The store could not be written.", FaultKind.Unavailable, ex);
            foreach (var pending in group)
                pending.Done.SetException(failure);
        }
    }

    private sealed record Pending(WorkflowCommit Commit)
    {
        public TaskCompletionSource<CommitResult> Done { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);
    }
}
