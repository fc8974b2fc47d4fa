using Esb.Core.Audit;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Workflows;
using Esb.Workflows.Workflows.Compiling;
using Esb.Workflows.Workflows.State;

namespace Esb.Workflows.Workflows.Engine;

/// <summary>Replies to requests of instances.</summary>
internal sealed partial class WorkflowEngine
{
    /// <summary>Takes the reply to a request. The wait for it ends with the checkpoint that is its effect: a reply that comes twice has it
    /// once.</summary>
    /// <exception cref="EsbException">It had no effect, and comes again.</exception>
    public async Task ReceiveReplyAsync(Guid request, EsbMessage reply, CancellationToken cancellationToken)
    {
        var hash = MatchedKeys.HashOfReply(request);
        var message = reply with { Id = MessageIds.Derive(request, "reply") }; // the same for every responder
        for (var round = 0; round < MostRounds; round++)
        {
            var takers = await store.FindTakersAsync("", message.Id, [hash], [hash], cancellationToken);
            if (takers.Waiting is { } waiting)
            {
                var cause = new Cause(Inbox: null);
                if (await DeliverAsync(waiting.Instance, waiting.Wait, message, cause, cancellationToken) == CommitOutcome.Committed)
                    return;
            }
            else if (await FindStoppedAsync(takers.Living, hash, cancellationToken) is { } stopped)
            {
                await KeepReplyAsync(stopped, message, hash, cancellationToken);
                return;
            }
            else
            {
                await AbandonAsync(request, message);
                return;
            }
        }

        throw new EsbException("ESB-WFL-BUSY", "The instance changes all the time.", FaultKind.Unavailable);
    }

    // A suspended instance takes nothing: its replies wait until an operator lets it go on.
    private async Task<WorkflowInstance?> FindStoppedAsync(IReadOnlyList<Guid> living, string hash, CancellationToken cancellationToken)
    {
        foreach (var id in living)
        {
            if (
                await store.FindAsync(id, cancellationToken) is { IsEnded: false } instance
                && InstanceState.ReadPlaces(instance).Tokens.Any(token => token.Wait?.Hash == hash)
            )
                return instance;
        }

        return null;
    }

    private async Task KeepReplyAsync(WorkflowInstance instance, EsbMessage message, string hash, CancellationToken cancellationToken)
    {
        var result = await checkpoints.CommitAsync(
            new WorkflowCommit { Workflow = instance.Workflow, Early = new EarlyMessage(message, [(hash, hash)], MayStart: false) }
        );
        if (result.IsAwaited)
            await TakeEarlyAsync(instance.Workflow, message.Id, cancellationToken); // it went on meanwhile
    }

    private async Task AbandonAsync(Guid request, EsbMessage message)
    {
        var fact = AuditFacts.Of(message with { Id = request }, AuditKind.ReplyAbandoned, time) with
        {
            Code = "ESB-WFL-LATE",
            Reason = "No instance waits for the reply any more.",
        };
        await audit.RecordAsync(fact, message, CancellationToken.None);
    }

    private async Task RecordAsync(WorkflowInstance instance, TakenReply taken)
    {
        var fact = AuditFacts.Of(taken.Request, AuditKind.Replied, time) with
        {
            Endpoint = WorkflowQueues.SubscriberOf(instance.Workflow),
            Process = $"workflow {instance.Workflow}",
            Step = taken.Step,
            Code = taken.Failure?.Code,
            Reason = taken.Failure?.Message,
            Fields = new Dictionary<string, string> { ["workflow.instance"] = instance.Id.ToString() },
        };
        await audit.RecordAsync(fact, taken.Reply, CancellationToken.None);
    }
}
