using System.Globalization;
using System.Text.Json;
using Esb.Core.Messages;
using Esb.Core.Storage;
using Esb.Core.Workflows;
using Esb.Workflows.Workflows.State;

namespace Esb.Workflows.Workflows.Engine;

/// <summary>What timers bring about.</summary>
internal sealed partial class WorkflowEngine
{
    // A timer of an instance that an operator has to look at first is not lost.
    private static readonly TimeSpan Postponed = TimeSpan.FromSeconds(30);

    /// <summary>Fires a timer that this host has claimed.</summary>
    public async Task FireAsync(StoredTimer timer, CancellationToken cancellationToken)
    {
        var cause = new Cause(Inbox: null) { Fired = timer.Id, IsRecovery = timer.Kind is TimerKinds.Lease or TimerKinds.Terminate };
        switch (timer.Kind)
        {
            case TimerKinds.Start:
                await StartChildAsync(timer, cause, cancellationToken);
                break;
            case TimerKinds.Early:
                await ExpireAsync(timer, cause, cancellationToken);
                break;
            default:
                await FireAtInstanceAsync(timer, Guid.Parse(timer.Target), cause, cancellationToken);
                break;
        }
    }

    private async Task FireAtInstanceAsync(StoredTimer timer, Guid id, Cause cause, CancellationToken cancellationToken)
    {
        var isStopped = false;
        for (var round = 0; round < MostRounds; round++)
        {
            isStopped = false;
            var outcome = await ChangeAsync(id, run => Apply(timer, run, ref isStopped), cause, cancellationToken);
            if (outcome is CommitOutcome.Committed or CommitOutcome.Gone)
                return;
            if (isStopped)
            {
                await timers.PostponeAsync(timer.Id, Postponed, cancellationToken);
                return;
            }

            // What it was to end is over, or the instance is at another version: only the latter is worth another look.
            if (await store.FindAsync(id, cancellationToken) is { State: WorkflowState.Suspended })
            {
                await timers.PostponeAsync(timer.Id, Postponed, cancellationToken);
                return;
            }

            if (
                await store.FindAsync(id, cancellationToken) is not { IsEnded: false } instance
                || (round > 0 && instance.State != WorkflowState.Running)
            )
            {
                await timers.RemoveAsync([timer.Id], cancellationToken);
                return;
            }
        }
    }

    private static bool Apply(StoredTimer timer, InstanceRun run, ref bool isStopped)
    {
        isStopped = run.Condition is WorkflowState.Suspended or WorkflowState.CompensationFailed && timer.Kind is not TimerKinds.Terminate;
        if (isStopped)
            return false;
        switch (timer.Kind)
        {
            case TimerKinds.Wait:
                return run.Fire(int.Parse(timer.Data!, CultureInfo.InvariantCulture), timer.Id);
            case TimerKinds.ChildEnd:
                return run.EndChild(JsonSerializer.Deserialize(timer.Data!, WorkflowJson.Default.ChildEnd)!);
            case TimerKinds.Timeout:
                run.Terminate("ESB-WFL-TIMEOUT", "The instance has lived as long as its workflow allows.", compensate: false);
                return true;
            case TimerKinds.Terminate:
                run.Terminate(code: null, timer.Data ?? "The instance that ran it waits for it no longer.", compensate: false);
                return true;
            default:
                run.Recover();
                return true;
        }
    }

    private async Task StartChildAsync(StoredTimer timer, Cause cause, CancellationToken cancellationToken)
    {
        var start = JsonSerializer.Deserialize(timer.Data!, WorkflowJson.Default.ChildStart)!;
        if (programs.Find(timer.Target) is not { } program)
        {
            // The workflow is gone from the configuration; it may come back.
            await timers.PostponeAsync(timer.Id, Postponed, cancellationToken);
            return;
        }

        var message = start.Message.ToMessage();
        try
        {
            var outcome = await StartAsync(program, message, start.Parent, caller: null, cause, cancellationToken);
            if (outcome != CommitOutcome.Occupied)
                return;
            await RefuseChildAsync(timer, start, $"an instance of '{timer.Target}' with the same keys is running", cancellationToken);
        }
        catch (Esb.Core.Errors.EsbException ex) when (!ex.IsTransient)
        {
            await RefuseChildAsync(timer, start, ex.Message, cancellationToken);
        }
    }

    // A child that cannot start fails the step of its parent; without a parent it is a dead letter of the workflow.
    private async Task RefuseChildAsync(StoredTimer timer, ChildStart start, string reason, CancellationToken cancellationToken)
    {
        if (start.Parent is { } parent)
        {
            var end = new StoredTimer(timer.Id, TimerKinds.ChildEnd, parent.Instance.ToString())
            {
                Data = JsonSerializer.Serialize(new ChildEnd(parent.Wait, null, reason), WorkflowJson.Default.ChildEnd),
            };
            await FireAtInstanceAsync(end, parent.Instance, new Cause(Inbox: null) { Fired = timer.Id }, cancellationToken);
            return;
        }

        await letters.KeepAsync(
            LetterOf(timer.Target, start.Message.ToMessage(), "ESB-WFL-RUNNING", reason, time.GetUtcNow()),
            cancellationToken
        );
        await timers.RemoveAsync([timer.Id], cancellationToken);
    }

    private async Task ExpireAsync(StoredTimer timer, Cause cause, CancellationToken cancellationToken)
    {
        var (workflow, id) = (timer.Target, Guid.Parse(timer.Data!));
        if (await store.FindEarlyAsync(workflow, id, cancellationToken) is not { } early)
        {
            await timers.RemoveAsync([timer.Id], cancellationToken);
            return;
        }

        var takers = await store.FindTakersAsync(
            workflow,
            id,
            [.. early.Matches.Select(match => match.Wait)],
            [.. early.Matches.Select(match => match.Key)],
            cancellationToken
        );
        if (takers.Waiting is not null || takers.Living.Count > 0)
        {
            // While an instance with its keys lives it waits, without limit: the end of the instance decides.
            await timers.PostponeAsync(timer.Id, TimeSpan.FromMinutes(10), cancellationToken);
            return;
        }

        await GiveUpAsync(
            workflow,
            early.Message,
            "ESB-WFL-NOMATCH",
            "No instance of the workflow waits for the message, and none with its keys lives.",
            cause.Fired,
            cancellationToken
        );
    }

    // The letter first: a crash in between finds both again, and a letter is kept once.
    private async Task<CommitOutcome> GiveUpAsync(
        string workflow,
        EsbMessage message,
        string code,
        string reason,
        Guid? fired,
        CancellationToken cancellationToken
    )
    {
        await letters.KeepAsync(LetterOf(workflow, message, code, reason, time.GetUtcNow()), cancellationToken);
        var result = await checkpoints.CommitAsync(
            new WorkflowCommit
            {
                Workflow = workflow,
                Taken = message.Id,
                Fired = fired,
                Forgotten = message.Id,
            }
        );
        return result.Outcome;
    }
}
