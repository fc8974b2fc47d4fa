using Esb.Core.Messages;
using Esb.Core.Storage;
using Esb.Core.Workflows;
using Esb.Workflows.Workflows.Compiling;
using Microsoft.Extensions.Logging;

namespace Esb.Workflows.Workflows.Engine;

/// <summary>Messages that come before an instance waits for them.</summary>
internal sealed partial class WorkflowEngine
{
    /// <summary>Takes early messages for which an instance waits: where two hosts worked at the same moment, neither saw the
    /// other.</summary>
    public async Task MatchEarlyAsync(CancellationToken cancellationToken)
    {
        foreach (var (workflow, message) in await store.FindMatchedAsync(100, cancellationToken))
            await TakeEarlyAsync(workflow, message, cancellationToken);
    }

    private async Task<CommitOutcome> KeepEarlyAsync(
        BoundProgram program,
        EsbMessage message,
        Offer offer,
        Guid? inbox,
        CancellationToken cancellationToken
    )
    {
        var workflow = program.Model.Name;
        var mayStart = offer.Starts && program.Model.WhenRunning == WhenRunning.Deliver;
        var expiry = new StoredTimer(MessageIds.Derive(message.Id, $"early {workflow}"), TimerKinds.Early, workflow)
        {
            Delay = program.Model.Config.EarlyMessages,
            Data = message.Id.ToString(),
        };
        var result = await checkpoints.CommitAsync(
            new WorkflowCommit
            {
                Workflow = workflow,
                Inbox = inbox,
                Early = new EarlyMessage(message, offer.Matches, mayStart),
                Timers = [expiry],
            }
        );
        if (result is { Outcome: CommitOutcome.Committed, IsAwaited: true })
            await TakeEarlyAsync(workflow, message.Id, cancellationToken);
        return result.Outcome;
    }

    // An early message goes the way of any other, and leaves with its effect.
    private async Task TakeEarlyAsync(string workflow, Guid id, CancellationToken cancellationToken)
    {
        for (var round = 0; round < MostRounds; round++)
        {
            if (await store.FindEarlyAsync(workflow, id, cancellationToken) is not { } early)
                return;
            var keys = early.Matches.Select(match => match.Key).ToList();
            var takers = await store.FindTakersAsync(workflow, id, [.. early.Matches.Select(match => match.Wait)], keys, cancellationToken);
            var cause = new Cause(Inbox: null) { Taken = id };
            CommitOutcome outcome;
            if (takers.Waiting is { } waiting)
                outcome = await DeliverAsync(waiting.Instance, waiting.Wait, early.Message, cause, cancellationToken);
            else if (early.MayStart && takers.Living.Count == 0 && programs.Find(workflow) is { } program)
                outcome = await StartAsync(program, early.Message, parent: null, caller: null, cause, cancellationToken);
            else
                return;
            if (outcome is CommitOutcome.Committed or CommitOutcome.Gone)
                return;
        }
    }

    private void Later(string workflow, Guid message) =>
        _ = Task.Run(async () =>
        {
            try
            {
                await TakeEarlyAsync(workflow, message, CancellationToken.None);
            }
            catch (Exception ex)
            {
                LogNotTaken(message, workflow, ex); // the sweep takes it
            }
        });

    [LoggerMessage(
        EventId = 3012,
        Level = LogLevel.Warning,
        Message = "Early message {MessageId} of workflow {Workflow} was not taken yet"
    )]
    private partial void LogNotTaken(Guid messageId, string workflow, Exception exception);
}
