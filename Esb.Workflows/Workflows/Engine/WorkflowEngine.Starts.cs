using Esb.Core.Audit;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Workflows;
using Esb.Workflows.Workflows.Compiling;
using Esb.Workflows.Workflows.Entries;
using Esb.Workflows.Workflows.State;
using Microsoft.Extensions.Logging;

namespace Esb.Workflows.Workflows.Engine;

/// <summary>Starts on behalf of endpoints, and starts that wait in the store until the workflow may start a further instance.</summary>
internal sealed partial class WorkflowEngine
{
    /// <summary>The code of a start above the limits.</summary>
    public const string LimitCode = "ESB-WFL-LIMIT";

    private const int MostStartsAtOnce = 100;

    /// <summary>Starts an instance with a message that no queue keeps. Returns after its first checkpoint; the instance goes on.</summary>
    /// <param name="workflow">The workflow.</param>
    /// <param name="message">The message, whose body is in memory.</param>
    /// <param name="replyAddress">Where the answer goes; null if nobody waits for one.</param>
    /// <param name="cancellationToken">Cancels looking for instances with the same keys; an instance that begins is not cancelled.</param>
    /// <exception cref="EsbException">It did not start. <c>ESB-WFL-RUNNING</c>: an instance with its keys lives. <c>ESB-WFL-LIMIT</c>: no
    /// further instance may start now.</exception>
    public async Task<WorkflowStart> StartAsync(
        string workflow,
        EsbMessage message,
        string? replyAddress,
        CancellationToken cancellationToken
    )
    {
        var program = programs.Current(workflow);
        if (await admission.FindObstacleAsync(program.Model, cancellationToken) is { } obstacle)
            throw AboveLimit(obstacle);
        var key = program.Model.WhenRunning == WhenRunning.New ? null : Offer.StartKeyOf(program, message);
        for (var round = 0; round < MostRounds; round++)
        {
            if (key is not null)
            {
                var takers = await store.FindTakersAsync(workflow, message.Id, [], [key], cancellationToken);
                if (takers.IsKnown)
                    return WorkflowStart.Known;
                if (!MayStart(program, takers))
                    return program.Model.WhenRunning == WhenRunning.Ignore ? WorkflowStart.Ignored : throw Running(workflow);
            }

            switch (await background.BeginAsync(first => StartAsync(program, message, CallerOf(message, replyAddress), first)))
            {
                case CommitOutcome.Committed:
                    return WorkflowStart.Started;
                case CommitOutcome.Duplicate:
                    return WorkflowStart.Known;
            }
        }

        throw Running(workflow);
    }

    /// <summary>Starts instances whose messages wait in the store, oldest first, as far as the limits of their workflow allow.</summary>
    public async Task StartHeldAsync(CancellationToken cancellationToken)
    {
        foreach (var workflow in programs.Names)
        {
            if (programs.Find(workflow) is not { } program)
                continue;
            var free = await admission.CountFreeAsync(program.Model, MostStartsAtOnce, cancellationToken);
            if (free <= 0)
                continue;
            foreach (var message in await store.FindHeldStartsAsync(workflow, HeldHash(workflow), free, cancellationToken))
                await StartHeldAsync(program, message, cancellationToken);
        }
    }

    // It goes the way of any other start, and leaves with its effect.
    private async Task StartHeldAsync(BoundProgram program, Guid id, CancellationToken cancellationToken)
    {
        var workflow = program.Model.Name;
        for (var round = 0; round < MostRounds; round++)
        {
            if (await store.FindEarlyAsync(workflow, id, cancellationToken) is not { Message: var message })
                return;
            var offer = Offer.Of(programs.Living(workflow), program, message);
            var takers = await store.FindTakersAsync(
                workflow,
                id,
                offer.Waits,
                offer.StartKey is null ? [] : [offer.StartKey],
                cancellationToken
            );
            var cause = new Cause(Inbox: null) { Taken = id };
            CommitOutcome outcome;
            if (takers.Waiting is { } waiting)
                outcome = await DeliverAsync(waiting.Instance, waiting.Wait, message, cause, cancellationToken);
            else if (MayStart(program, takers))
                outcome = await StartAsync(program, message, parent: null, caller: null, cause, cancellationToken);
            else if (program.Model.WhenRunning == WhenRunning.Deliver)
                return; // the end of the other instance decides
            else
                outcome = await EndHeldAsync(program, message, cancellationToken);
            if (outcome is CommitOutcome.Committed or CommitOutcome.Gone or CommitOutcome.Duplicate)
                return;
        }
    }

    // Beside a living instance with its keys.
    private async Task<CommitOutcome> EndHeldAsync(BoundProgram program, EsbMessage message, CancellationToken cancellationToken)
    {
        var workflow = program.Model.Name;
        if (program.Model.WhenRunning != WhenRunning.Ignore)
        {
            var refused = Running(workflow);
            return await GiveUpAsync(workflow, message, refused.Code, refused.Message, fired: null, cancellationToken);
        }

        var result = await checkpoints.CommitAsync(new WorkflowCommit { Workflow = workflow, Taken = message.Id });
        if (result.Outcome == CommitOutcome.Committed)
            await RecordAsync(message, AuditKind.Filtered, workflow, step: null, instance: null);
        return result.Outcome;
    }

    // Without an expiry: it waits for room, not for an instance.
    private async Task<CommitOutcome> HoldStartAsync(string workflow, EsbMessage message, Guid? inbox, string obstacle)
    {
        var hash = HeldHash(workflow);
        var result = await checkpoints.CommitAsync(
            new WorkflowCommit
            {
                Workflow = workflow,
                Inbox = inbox,
                Early = new EarlyMessage(message, [(hash, hash)], MayStart: false),
            }
        );
        if (result.Outcome == CommitOutcome.Committed)
            LogHeld(message.Id, workflow, obstacle);
        return result.Outcome;
    }

    private Task<CommitOutcome> StartAsync(BoundProgram program, EsbMessage message, Caller? caller, Action first) =>
        StartAsync(program, message, parent: null, caller, new Cause(message.Id) { IsStored = first }, background.Stopping);

    private static Caller? CallerOf(EsbMessage message, string? replyAddress) =>
        replyAddress is null ? null : new Caller(replyAddress, StoredMessage.Of(message) with { Body = default });

    private static string HeldHash(string workflow) => MatchedKeys.Hash(workflow, [new("", "starts above the limits")]);

    private static EsbException AboveLimit(string obstacle) =>
        new(LimitCode, $"No instance starts now: {obstacle}.", FaultKind.Unavailable) { RetryAfter = TimeSpan.FromSeconds(5) };

    [LoggerMessage(
        EventId = 3015,
        Level = LogLevel.Debug,
        Message = "Message {MessageId} waits before it starts an instance of workflow {Workflow}: {Obstacle}"
    )]
    private partial void LogHeld(Guid messageId, string workflow, string obstacle);
}
