using Esb.Core.Audit;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Storage;
using Esb.Core.Workflows;

namespace Esb.Workflows.Workflows.Engine;

/// <summary>What operators bring about.</summary>
internal sealed partial class WorkflowEngine
{
    /// <summary>Changes an instance as an operator says, and runs it on.</summary>
    /// <exception cref="EsbException"><c>ESB-WFL-GONE</c>: it does not exist, or has ended. Or the change is refused.</exception>
    public async Task<WorkflowInstance> OperateAsync(
        Guid id,
        Action<InstanceRun> change,
        OperatorDecision decision,
        string action,
        CancellationToken cancellationToken
    )
    {
        var cause = new Cause(Inbox: null) { IsRecovery = true };
        for (var round = 0; round < MostRounds; round++)
        {
            using (await _locks.EnterAsync(id, cancellationToken))
            {
                if (await LoadAsync(id, cancellationToken) is not { } run)
                    throw await MissingAsync(id, cancellationToken);
                if (run.Instance.IsEnded)
                    throw new EsbException("ESB-WFL-GONE", $"The instance {id} has ended.", FaultKind.Invalid) { Status = 409 };
                var before = run.Instance;
                change(run);
                run.NoteDecision(decision, action);
                if (await RunAsync(run, cause, cancellationToken) == CommitOutcome.Committed)
                {
                    await RecordDecisionAsync(before, decision, action);
                    return run.Instance;
                }
            }
        }

        throw new EsbException("ESB-WFL-BUSY", "The instance changes all the time.", FaultKind.Unavailable);
    }

    private async Task<EsbException> MissingAsync(Guid id, CancellationToken cancellationToken) =>
        await store.FindAsync(id, cancellationToken) is { } instance
            ? new EsbException(
                "ESB-WFL-VERSION",
                $"The definition {instance.Definition[..12]} of '{instance.Workflow}', with which the instance began, is not available.",
                FaultKind.Invalid
            )
            {
                Status = 409,
            }
            : new EsbException("ESB-WFL-GONE", $"There is no instance {id}.", FaultKind.Invalid) { Status = 404 };

    private async Task RecordDecisionAsync(WorkflowInstance instance, OperatorDecision decision, string action)
    {
        var now = time.GetUtcNow();
        var about = new EsbMessage
        {
            Id = instance.StartedBy,
            ConversationId = instance.ConversationId,
            CreatedAt = now,
        };
        var fact = AuditFacts.Of(about, AuditKind.StepEnded, time) with
        {
            Endpoint = WorkflowQueues.SubscriberOf(instance.Workflow),
            Process = $"workflow {instance.Workflow}",
            Step = instance.Step.Length == 0 ? null : instance.Step,
            Name = $"{action} by {decision.By}",
            Reason = decision.Reason,
            Fields = new Dictionary<string, string> { ["workflow.instance"] = instance.Id.ToString() },
        };
        await audit.RecordAsync(fact, CancellationToken.None);
    }
}
