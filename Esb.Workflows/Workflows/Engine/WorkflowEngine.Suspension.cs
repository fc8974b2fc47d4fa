using Esb.Core.Workflows;

namespace Esb.Workflows.Workflows.Engine;

/// <summary>Instances whose definition is not available.</summary>
internal sealed partial class WorkflowEngine
{
    /// <summary>Suspends every living instance of a definition that is not available any more.</summary>
    public async Task SuspendAllAsync(StoredDefinition definition, CancellationToken cancellationToken)
    {
        var query = new WorkflowQuery
        {
            Workflow = definition.Workflow,
            States = LivingStates,
            Limit = 500,
        };
        while (await store.ListAsync(query, cancellationToken) is { Count: > 0 } page)
        {
            var lost = page.Where(instance => instance.Definition == definition.Hash && instance.Code != "ESB-WFL-VERSION");
            await Task.WhenAll(lost.Select(instance => SuspendAsync(instance.Id, cancellationToken)));
            query = query with { After = page[^1].Id };
        }
    }

    private async Task SuspendAsync(Guid id, CancellationToken cancellationToken)
    {
        using (await _locks.EnterAsync(id, cancellationToken))
        {
            if (await store.FindAsync(id, cancellationToken) is { IsEnded: false } instance)
                await SuspendAsync(instance);
        }
    }

    // Its place means nothing to another definition: it stays as it is until its own is available again.
    private async Task SuspendAsync(WorkflowInstance instance)
    {
        var reason =
            $"The definition {instance.Definition[..12]} of '{instance.Workflow}', with which the instance began, is not available.";
        var stopped = instance with
        {
            Version = instance.Version + 1,
            State = WorkflowState.Suspended,
            Code = "ESB-WFL-VERSION",
            Reason = reason,
        };
        var result = await checkpoints.CommitAsync(
            new WorkflowCommit
            {
                Workflow = instance.Workflow,
                Instance = stopped,
                Before = instance.State,
                EndsAllWaits = true,
            }
        );
        if (result.Outcome != CommitOutcome.Committed)
            return;
        LogStopped(instance.Id, instance.Workflow, instance.Step, "ESB-WFL-VERSION", reason);
        WorkflowsTelemetry.CountCheckpoint(stopped, instance.State);
    }
}
