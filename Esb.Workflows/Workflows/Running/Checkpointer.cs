using System.Diagnostics;
using Esb.Core.Errors;
using Esb.Core.Storage;
using Esb.Core.Workflows;

namespace Esb.Workflows.Workflows.Running;

/// <summary>Stores the checkpoints of many instances in one commit. Thread-safe.</summary>
internal sealed class Checkpointer(IWorkflowStore store, RecentChanges changes) : IAsyncDisposable
{
    private readonly GroupCommit<WorkflowCommit, CommitResult> _commits = new(
        async group =>
        {
            var results = await store.CommitAsync(group, CancellationToken.None);
            WorkflowsTelemetry.CountCommit(group.Count);
            return results;
        },
        StoreRefusal.Is,
        sizeOf: SizeOf
    );

    /// <summary>Stores a checkpoint; it is durable when this returns.</summary>
    /// <exception cref="EsbException">It is not known to be stored.</exception>
    public async Task<CommitResult> CommitAsync(WorkflowCommit commit)
    {
        var begun = Stopwatch.GetTimestamp();
        var result = await _commits.CommitAsync(commit);
        if (result.Outcome == CommitOutcome.Committed && commit.Instance is { } stored)
        {
            WorkflowsTelemetry.TimeCheckpoint(commit.Workflow, Stopwatch.GetElapsedTime(begun));
            changes.Note(stored);
        }

        return result;
    }

    public ValueTask DisposeAsync() => _commits.DisposeAsync();

    private static long SizeOf(WorkflowCommit commit) =>
        (commit.Instance?.Snapshot.Length ?? 0)
        + commit.NewValues.Sum(name => (long)commit.Instance!.LargeValues[name].Length)
        + (commit.Early?.Message.Body.Bytes.Length ?? 0)
        + commit.Outgoing.Sum(outgoing => (long)outgoing.Message.Message.Body.Bytes.Length);
}
