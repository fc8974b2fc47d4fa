using System.Text.Json;
using Esb.Core.Audit;
using Esb.Core.Configuration;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Core.Workflows;
using Esb.Workflows.Workflows.Compiling;
using Esb.Workflows.Workflows.Running;
using Esb.Workflows.Workflows.State;
using Microsoft.Extensions.Logging;

namespace Esb.Workflows.Workflows.Engine;

/// <summary>Runs instances: takes messages, timers and the words of operators, and stores their effect. Thread-safe.</summary>
/// <remarks>
/// An instance lives in the store alone; it is in memory only while it runs. Whatever happens here, a process may end between any two
/// lines: a message that is not acknowledged comes again, a timer that is not removed fires again, and the version of the instance lets
/// one of two effects count.
/// </remarks>
internal sealed partial class WorkflowEngine(
    IWorkflowStore store,
    Checkpointer checkpoints,
    OutboxPublisher outbox,
    WorkflowPrograms programs,
    EarlierPrograms earlier,
    ITimerStore timers,
    IDeadLetterChannel letters,
    IAuditTrail audit,
    CallerAnswers answers,
    BackgroundRuns background,
    StartAdmission admission,
    TimeProvider time,
    ILogger<WorkflowEngine> logger
)
{
    // Another change of the same instance won as many times in a row: it is under heavy load, and the message comes again.
    private const int MostRounds = 50;

    private static readonly WorkflowState[] LivingStates =
    [
        .. Enum.GetValues<WorkflowState>().Where(state => !WorkflowInstance.HasEnded(state)),
    ];

    private readonly InstanceLocks _locks = new();

    /// <summary>Hands over timers that were stored for this host; set when the bus starts.</summary>
    public TimerDispatcher? Dispatcher { get; set; }

    /// <summary>Takes a message of a workflow's queue.</summary>
    /// <exception cref="EsbException">It had no effect, and comes again.</exception>
    public async Task<Settlement> ReceiveAsync(string workflow, TopicDelivery delivery, CancellationToken cancellationToken)
    {
        var hops = MessageHops.Of(delivery.Message);
        if (hops >= MessageHops.Most)
            return Divert(
                workflow,
                delivery.Message,
                new EsbException(
                    MessageHops.Code,
                    $"The message has gone through the bus {hops} times: it is routed in a circle.",
                    FaultKind.Internal
                )
            );
        var message = MessageHops.Set(delivery.Message with { Attempt = 0 }, hops + 1);
        MaskedFlow.Follow(audit.Mask, message);
        var caller = CallerOf(message, delivery.ReplyAddress?.Invoke());
        try
        {
            return await TakeAsync(workflow, message, caller, delivery.Kind == DeliveryKind.Replay, cancellationToken);
        }
        catch (EsbException ex) when (!ex.IsTransient)
        {
            if (caller is null)
                return Divert(workflow, delivery.Message, ex);
            await RefuseAsync(workflow, caller, ex, cancellationToken); // a request is answered, and is no dead letter
            return Settlement.Done;
        }
    }

    /// <summary>Returns what keeps messages of one lane in order: their order key, or else the business keys that they have in common; null
    /// for a message that only starts an instance, or that cannot be read.</summary>
    public string? TurnOf(string workflow, EsbMessage message)
    {
        if (message.Key is { } key)
            return key;
        try
        {
            return Offer.TurnOf(programs.Living(workflow), programs.Current(workflow), message);
        }
        catch (Exception)
        {
            return null; // whatever is wrong with the message is told, and logged, when it is taken
        }
    }

    private Settlement.Divert Divert(string workflow, EsbMessage message, EsbException failure)
    {
        var now = time.GetUtcNow();
        LogDiverted(message.Id, workflow, failure.Code, MaskedFlow.Clean(failure.Message));
        return new Settlement.Divert(LetterOf(workflow, message, failure.Code, MaskedFlow.Clean(failure.Message), now));
    }

    private static DeadLetter LetterOf(string workflow, EsbMessage message, string code, string reason, DateTimeOffset now) =>
        new(message, WorkflowQueues.SubscriberOf(workflow), code, reason, null, 1, now, now);

    private async Task<Settlement> TakeAsync(
        string workflow,
        EsbMessage message,
        Caller? caller,
        bool isReplay,
        CancellationToken cancellationToken
    )
    {
        var program = programs.Current(workflow);
        var living = programs.Living(workflow);
        var offer = Offer.Of(living, program, message);
        for (var round = 0; round < MostRounds; round++)
        {
            var takers =
                offer.NeedsLookUp || isReplay
                    ? await store.FindTakersAsync(
                        workflow,
                        message.Id,
                        offer.Waits,
                        offer.StartKey is null ? [] : [offer.StartKey],
                        cancellationToken
                    )
                    : new WorkflowTakers(false, null, []);
            if (takers.IsKnown && !isReplay)
                return await DuplicateAsync(workflow, message);
            var inbox = takers.IsKnown ? (Guid?)null : message.Id;
            if (takers.Waiting is null && !(offer.Starts && MayStart(program, takers)))
            {
                // No instance that this host knows takes it. A host of a newer revision may have started one that does.
                await earlier.LearnAsync(cancellationToken);
                if (programs.Living(workflow) is var known && known.Count > living.Count)
                {
                    (living, offer) = (known, Offer.Of(known, program, message));
                    continue;
                }
            }

            var outcome =
                takers.Waiting is { } waiting
                    ? await DeliverAsync(waiting.Instance, waiting.Wait, message, new Cause(inbox), cancellationToken)
                : offer.Starts && MayStart(program, takers)
                    ? await StartWithinLimitsAsync(program, message, caller, inbox, cancellationToken)
                : offer.Starts && program.Model.WhenRunning == WhenRunning.Fail ? throw Running(workflow)
                : offer.Starts && program.Model.WhenRunning == WhenRunning.Ignore ? await IgnoreAsync(workflow, message, caller, inbox)
                : offer.Matches.Count == 0 ? await IgnoreAsync(workflow, message, caller, inbox)
                : await KeepEarlyAsync(program, message, offer, inbox, cancellationToken);
            if (outcome == CommitOutcome.Committed)
                return Settlement.Done;
            if (outcome == CommitOutcome.Duplicate)
                return await DuplicateAsync(workflow, message);
        }

        throw new EsbException("ESB-WFL-BUSY", "The instance changes all the time.", FaultKind.Unavailable);
    }

    private async Task<CommitOutcome> StartWithinLimitsAsync(
        BoundProgram program,
        EsbMessage message,
        Caller? caller,
        Guid? inbox,
        CancellationToken cancellationToken
    )
    {
        if (await admission.FindObstacleAsync(program.Model, cancellationToken) is not { } obstacle)
            return await StartAsync(program, message, parent: null, caller, new Cause(inbox), cancellationToken);
        if (caller is null)
            return await HoldStartAsync(program.Model.Name, message, inbox, obstacle);
        await RefuseAsync(program.Model.Name, caller, AboveLimit(obstacle), cancellationToken);
        return CommitOutcome.Committed; // the caller asks again
    }

    private static bool MayStart(BoundProgram program, WorkflowTakers takers) =>
        program.Model.WhenRunning == WhenRunning.New || takers.Living.Count == 0;

    private static EsbException Running(string workflow) =>
        new("ESB-WFL-RUNNING", $"An instance of '{workflow}' with the same keys is running.", FaultKind.Invalid) { Status = 409 };

    private async Task<Settlement> DuplicateAsync(string workflow, EsbMessage message)
    {
        await RecordAsync(message, AuditKind.Duplicate, workflow, step: null, instance: null);
        return Settlement.Done;
    }

    private async Task<CommitOutcome> IgnoreAsync(string workflow, EsbMessage message, Caller? caller, Guid? inbox)
    {
        var commit = new WorkflowCommit
        {
            Workflow = workflow,
            Inbox = inbox,
            Outgoing = caller is null ? [] : [AnswerWithout(workflow, caller, failure: null)],
        };
        var result = await checkpoints.CommitAsync(commit);
        if (result.Outcome != CommitOutcome.Committed)
            return result.Outcome;
        Publish(commit, result);
        await RecordAsync(message, AuditKind.Filtered, workflow, step: null, instance: null);
        return result.Outcome;
    }

    // Before the request is acknowledged: nothing is stored that would be lost with this process.
    private Task RefuseAsync(string workflow, Caller caller, EsbException failure, CancellationToken cancellationToken) =>
        answers.SendAsync(AnswerWithout(workflow, caller, failure), cancellationToken);

    private OutboxMessage AnswerWithout(string workflow, Caller caller, EsbException? failure) =>
        StoredAnswer.Of(workflow, instance: null, new InstanceAnswer(caller, Message: null, failure), time);

    private async Task<CommitOutcome> StartAsync(
        BoundProgram program,
        EsbMessage message,
        ParentWait? parent,
        Caller? caller,
        Cause cause,
        CancellationToken cancellationToken
    )
    {
        var id = InstanceIds.Of(program.Model.Name, message);
        var run = InstanceRun.Start(program, id, message, parent, caller, time);
        admission.Started(program.Model.Name);
        using (await _locks.EnterAsync(id, cancellationToken))
        {
            var outcome = await RunAsync(run, cause, cancellationToken);
            // The instance exists: the message came a second time, by another way than before.
            return outcome == CommitOutcome.Stale ? await ForgetAsync(program.Model.Name, cause) : outcome;
        }
    }

    private async Task<CommitOutcome> ForgetAsync(string workflow, Cause cause)
    {
        var result = await checkpoints.CommitAsync(
            new WorkflowCommit
            {
                Workflow = workflow,
                Inbox = cause.Inbox,
                Taken = cause.Taken,
                Fired = cause.Fired,
            }
        );
        return result.Outcome == CommitOutcome.Committed ? CommitOutcome.Duplicate : result.Outcome;
    }

    private Task<CommitOutcome> DeliverAsync(
        Guid instance,
        int wait,
        EsbMessage message,
        Cause cause,
        CancellationToken cancellationToken
    ) => ChangeAsync(instance, run => run.Deliver(wait, message), cause, cancellationToken);

    /// <summary>Changes an instance and runs it on.</summary>
    /// <returns>Stale where it does not wait for the change.</returns>
    private async Task<CommitOutcome> ChangeAsync(Guid id, Func<InstanceRun, bool> change, Cause cause, CancellationToken cancellationToken)
    {
        using (await _locks.EnterAsync(id, cancellationToken))
        {
            if (await LoadAsync(id, cancellationToken) is not { } run || run.Instance.IsEnded)
                return CommitOutcome.Stale;
            if (run.Instance.State == WorkflowState.Running && !cause.IsRecovery)
                return await WaitForHostAsync(cancellationToken);
            return change(run) ? await RunAsync(run, cause, cancellationToken) : CommitOutcome.Stale;
        }
    }

    // Another host works on the instance right now; it will not take long.
    private async Task<CommitOutcome> WaitForHostAsync(CancellationToken cancellationToken)
    {
        await Task.Delay(TimeSpan.FromMilliseconds(100), time, cancellationToken);
        return CommitOutcome.Stale;
    }

    private async Task<InstanceRun?> LoadAsync(Guid id, CancellationToken cancellationToken)
    {
        if (await store.FindAsync(id, cancellationToken) is not { } instance)
            return null;
        if (await earlier.FindAsync(instance.Workflow, instance.Definition, cancellationToken) is { } program)
            return InstanceRun.Load(program, instance, time);
        if (!instance.IsEnded && instance.Code != "ESB-WFL-VERSION")
            await SuspendAsync(instance);
        return null;
    }

    // Runs an instance from checkpoint to checkpoint until it waits. The first one holds the effect of what brought it here.
    private async Task<CommitOutcome> RunAsync(InstanceRun run, Cause cause, CancellationToken cancellationToken)
    {
        var first = true;
        using var lease = new LeaseKeeper(timers, run, time);
        while (true)
        {
            await run.AdvanceAsync(cancellationToken);
            var commit = run.ToCommit();
            if (first)
                commit = commit with { Inbox = cause.Inbox, Taken = cause.Taken, Fired = cause.Fired };
            var result = await checkpoints.CommitAsync(commit);
            if (result.Outcome != CommitOutcome.Committed)
                return first ? result.Outcome : CommitOutcome.Committed; // another host went on with it
            await FollowAsync(run, commit, result, cancellationToken);
            if (first)
                cause.IsStored?.Invoke();
            first = false;
            if (!run.State.IsLeased)
                return CommitOutcome.Committed;
            lease.Begin();
        }
    }

    // What a stored checkpoint brings about. None of it is needed for the truth: it is found again by timers, outbox and the sweep.
    private async Task FollowAsync(InstanceRun run, WorkflowCommit commit, CommitResult result, CancellationToken cancellationToken)
    {
        var instance = commit.Instance!;
        Publish(commit, result);
        var taken = run.Taken.ToList();
        var replies = run.Replies.ToList();
        var before = run.Instance.State;
        run.Stored(instance);
        foreach (var message in taken)
            await RecordAsync(message, AuditKind.Delivered, instance.Workflow, instance.Step, instance.Id);
        foreach (var reply in replies)
            await RecordAsync(instance, reply);
        foreach (var message in result.Late)
            await RecordAsync(
                message,
                AuditKind.Filtered,
                instance.Workflow,
                step: null,
                instance.Id,
                "ESB-WFL-LATE",
                "The instance for which the message waited has ended."
            );
        if (instance.State is WorkflowState.Suspended or WorkflowState.CompensationFailed)
            LogStopped(instance.Id, instance.Workflow, instance.Step, instance.Code ?? "", MaskedFlow.Clean(instance.Reason ?? ""));
        WorkflowsTelemetry.CountCheckpoint(instance, before);
        foreach (var timer in commit.Timers)
        {
            if (timer.Delay == TimeSpan.Zero)
                Dispatcher?.Fire(timer);
            else if (timer.Delay is { } delay)
                Dispatcher?.Expect(delay);
        }

        // After the lock is released: each of them enters one of its own.
        foreach (var (_, message) in result.Early.DistinctBy(early => early.Wait))
            Later(instance.Workflow, message);
        foreach (var message in result.Starting)
            Later(instance.Workflow, message);
    }

    private void Publish(WorkflowCommit commit, CommitResult result)
    {
        foreach (var ofOwner in commit.Outgoing.GroupBy(message => message.Owner))
            outbox.Publish([.. ofOwner], result.FollowsUnpublished && ofOwner.First().Message.ReplyTo is null);
    }

    private async Task RecordAsync(
        EsbMessage message,
        AuditKind kind,
        string workflow,
        string? step,
        Guid? instance,
        string? code = null,
        string? reason = null
    )
    {
        var fact = AuditFacts.Of(message, kind, time) with
        {
            Endpoint = WorkflowQueues.SubscriberOf(workflow),
            Process = $"workflow {workflow}",
            Step = step is { Length: > 0 } ? step : null,
            Code = code,
            Reason = reason,
        };
        if (instance is { } id)
            fact = fact with { Fields = new Dictionary<string, string> { ["workflow.instance"] = id.ToString() } };
        await audit.RecordAsync(fact, message, CancellationToken.None);
    }

    /// <summary>What brings a change about, and leaves the store with it.</summary>
    private sealed record Cause(Guid? Inbox)
    {
        public Guid? Taken { get; init; }

        public Guid? Fired { get; init; }

        /// <summary>Called after the first checkpoint; null if nobody waits for it.</summary>
        public Action? IsStored { get; init; }

        /// <summary>True if the change is the recovery of an instance on which no host works any more, or an operator's.</summary>
        public bool IsRecovery { get; init; }
    }

    [LoggerMessage(
        EventId = 3010,
        Level = LogLevel.Error,
        Message = "Message {MessageId} of workflow {Workflow} became a dead letter: {Code}: {Reason}"
    )]
    private partial void LogDiverted(Guid messageId, string workflow, string code, string reason);

    [LoggerMessage(
        EventId = 3011,
        Level = LogLevel.Error,
        Message = "Instance {Instance} of workflow {Workflow} stopped at {Step}, and waits for an operator: {Code}: {Reason}"
    )]
    private partial void LogStopped(Guid instance, string workflow, string step, string code, string reason);
}
