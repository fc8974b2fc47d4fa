using System.Text.Json;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Core.Storage;
using Esb.Core.Workflows;
using Esb.Workflows.Workflows.Compiling;
using Esb.Workflows.Workflows.Running;
using Esb.Workflows.Workflows.State;

namespace Esb.Workflows.Workflows.Engine;

/// <summary>An instance in memory, from its snapshot to its next checkpoint: its state, and what the checkpoint has to store. Used by one
/// thread at a time.</summary>
internal sealed partial class InstanceRun
{
    /// <summary>A host that works on an instance says so in this time; then another one goes on from the last checkpoint.</summary>
    public static readonly TimeSpan Lease = TimeSpan.FromSeconds(30);

    private const int MostSteps = 10_000;

    private readonly BoundProgram _program;
    private readonly TimeProvider _time;
    private readonly List<HistoryStep> _history = [];
    private readonly List<WorkflowKey> _keys = [];
    private readonly List<WorkflowWait> _waits = [];
    private readonly List<int> _endedWaits = [];
    private readonly List<StoredTimer> _timers = [];
    private readonly List<Guid> _endedTimers = [];
    private readonly List<OutboxMessage> _outgoing = [];
    private readonly List<EsbMessage> _taken = [];
    private readonly List<TakenReply> _replies = [];
    private int _budget = MostSteps;
    private bool _holdsLease;

    private InstanceRun(BoundProgram program, WorkflowInstance instance, InstanceState state, TimeProvider time) =>
        (_program, Instance, State, _time) = (program, instance, state, time);

    /// <summary>The instance at its last checkpoint; version 0 before the first.</summary>
    public WorkflowInstance Instance { get; private set; }

    public InstanceState State { get; }

    public BoundProgram Program => _program;

    public Guid Id => Instance.Id;

    /// <summary>The state as of now.</summary>
    public WorkflowState Condition { get; private set; } = WorkflowState.Running;

    public string? Code { get; private set; }

    public string? Reason { get; private set; }

    // The answer given since the last checkpoint to the caller who waits; null if none.
    private InstanceAnswer? Answer { get; set; }

    /// <summary>The messages that were taken since the last checkpoint, for the audit.</summary>
    public IReadOnlyList<EsbMessage> Taken => _taken;

    /// <summary>The replies that were taken since the last checkpoint, for the audit.</summary>
    public IReadOnlyList<TakenReply> Replies => _replies;

    private string Endpoint => WorkflowQueues.SubscriberOf(Instance.Workflow);

    private bool IsRunnable =>
        Condition is WorkflowState.Running or WorkflowState.Compensating && State.Tokens.Any(token => token.Wait is null);

    /// <summary>A new instance.</summary>
    public static InstanceRun Start(
        BoundProgram program,
        Guid id,
        EsbMessage message,
        ParentWait? parent,
        Caller? caller,
        TimeProvider time
    )
    {
        var instance = new WorkflowInstance
        {
            Id = id,
            Workflow = program.Model.Name,
            Definition = program.Hash,
            Version = 0,
            State = WorkflowState.Running,
            StartedBy = message.Id,
            ConversationId = message.ConversationId,
            Parent = parent?.Instance,
        };
        var run = new InstanceRun(program, instance, new InstanceState { Parent = parent, Caller = caller }, time);
        run.Begin(message);
        return run;
    }

    /// <summary>An instance from its snapshot.</summary>
    public static InstanceRun Load(BoundProgram program, WorkflowInstance instance, TimeProvider time) =>
        new(program, instance, InstanceState.Read(instance), time)
        {
            Condition = instance.State,
            Code = instance.Code,
            Reason = instance.Reason,
        };

    /// <summary>Removes everything that the last checkpoint has stored.</summary>
    public void Stored(WorkflowInstance instance)
    {
        Instance = instance;
        Answer = null;
        _history.Clear();
        _keys.Clear();
        _waits.Clear();
        _endedWaits.Clear();
        _timers.Clear();
        _endedTimers.Clear();
        _outgoing.Clear();
        _taken.Clear();
        _replies.Clear();
    }

    /// <summary>What is to be stored now.</summary>
    public WorkflowCommit ToCommit()
    {
        var isRunnable = IsRunnable;
        var leaseTimer = TimerId("lease");
        if (!isRunnable && State.IsLeased)
            _endedTimers.Add(leaseTimer);
        else if (isRunnable && !_holdsLease)
            _timers.Add(new StoredTimer(leaseTimer, TimerKinds.Lease, Id.ToString()) { Delay = Lease });
        State.IsLeased = _holdsLease = isRunnable; // stored once: it is postponed while this host works
        var state = Condition is WorkflowState.Running && !isRunnable ? WorkflowState.Waiting : Condition;
        var isEnded = WorkflowInstance.HasEnded(state);
        if (isEnded)
            End(state);
        var isStopped = isEnded || state is WorkflowState.Suspended or WorkflowState.CompensationFailed;
        var instance = Instance with
        {
            Version = Instance.Version + 1,
            State = state,
            Step = isEnded
                ? ""
                : string.Join(
                    ", ",
                    State.Tokens.Where(token => token.Wait?.Kind != WaitKind.Join).Select(token => _program[token.At].Place).Distinct()
                ),
            Keys = string.Join('\n', State.Keys.Select(key => $"{key.Key}={key.Value.ReplaceLineEndings(" ")}")), // for people, a line each
            Code = Code,
            Reason = Reason,
            Snapshot = State.Write(),
            LargeValues = State.LargeValues(),
        };
        return new WorkflowCommit
        {
            Workflow = instance.Workflow,
            Instance = instance,
            Before = Instance.Version == 0 ? null : Instance.State,
            NewValues = [.. instance.LargeValues.Keys.Except(Instance.LargeValues.Keys)],
            UnusedValues = [.. Instance.LargeValues.Keys.Except(instance.LargeValues.Keys)],
            Steps = JsonSerializer.Serialize(_history, WorkflowJson.Default.ListHistoryStep),
            Keys = [.. _keys],
            Waits = isStopped ? [] : [.. _waits],
            EndedWaits = [.. _endedWaits],
            EndsAllWaits = isStopped,
            Timers = [.. _timers],
            EndedTimers = [.. _endedTimers],
            Outgoing = Answer is null ? [.. _outgoing] : [.. _outgoing, StoredAnswer.Of(instance.Workflow, instance.Id, Answer, _time)],
        };
    }

    /// <summary>Runs until every token waits, the instance ends or stops, or a checkpoint is due.</summary>
    public async ValueTask AdvanceAsync(CancellationToken cancellationToken)
    {
        _budget = MostSteps;
        var isCheckpointDue = false;
        while (IsRunnable)
        {
            var token = State.Tokens.First(candidate => candidate.Wait is null);
            var instruction = _program[token.At];
            if (isCheckpointDue && DoesSomething(instruction))
                return;
            if (--_budget < 0)
            {
                Suspend("ESB-WFL-LOOP", $"The instance went through {MostSteps} steps without waiting.");
                return;
            }

            isCheckpointDue |= await StepAsync(token, instruction, cancellationToken);
        }
    }

    private static bool DoesSomething(Instruction instruction) =>
        instruction is RunInstruction or BranchInstruction or ForEachInstruction or ForkInstruction or CorrelateInstruction;

    // Returns true if a checkpoint has to follow.
    private async ValueTask<bool> StepAsync(Token token, Instruction instruction, CancellationToken cancellationToken)
    {
        var began = _time.GetTimestamp();
        try
        {
            var hasEffect = await RunAsync(token, instruction, cancellationToken);
            if (instruction.Kind.Length > 0)
                Note(token, instruction, began);
            return hasEffect;
        }
        catch (OperationCanceledException) when (cancellationToken.IsCancellationRequested)
        {
            throw;
        }
        catch (EsbException ex)
        {
            Note(token, instruction, began, ex);
            Fail(token, ex);
        }
        catch (Exception ex)
        {
            var failure = new EsbException("ESB-PROC-FAILED", $"The step failed: {ex.GetType().Name}.", FaultKind.Internal, ex);
            Note(token, instruction, began, failure);
            Fail(token, failure);
        }

        return false;
    }

    private void Note(Token token, Instruction instruction, long began, EsbException? failure = null)
    {
        _history.Add(
            new HistoryStep(instruction.Place, instruction.Kind)
            {
                Ms = Math.Round(_time.GetElapsedTime(began).TotalMilliseconds, 3),
                Branch = token.Branch,
                Code = failure?.Code,
                Note = failure?.Message,
            }
        );
        if (++State.Steps >= MostSteps && Condition == WorkflowState.Running)
            Suspend("ESB-WFL-HISTORY", $"The history has {MostSteps} steps.");
    }

    private void Note(Token? token, string kind, string note) =>
        _history.Add(new HistoryStep(token is null ? "" : _program[token.At].Place, kind) { Branch = token?.Branch, Note = note });

    private async ValueTask<bool> RunAsync(Token token, Instruction instruction, CancellationToken cancellationToken)
    {
        switch (instruction)
        {
            case RunInstruction run:
                await RunStepAsync(token, run, cancellationToken);
                return run.HasEffect;
            case BranchInstruction branch:
                var context = ContextOf(token);
                var found = branch.Branches.FirstOrDefault(candidate => candidate.Condition.Holds(context), (null!, branch.Otherwise));
                token.At = found.Item2;
                return false;
            case JumpInstruction jump:
                token.At = jump.Target;
                return false;
            case EnterInstruction:
                token.Frames.Add(new Frame { At = token.At, Scopes = State.Scopes.Count });
                token.At++;
                return false;
            case LeaveInstruction:
                Leave(token);
                return false;
            case UndoneInstruction:
                GoOnUndoing(token);
                return true;
            case ReceiveInstruction receive:
                Receive(token, receive);
                return false;
            case CollectInstruction collect:
                Collect(token, collect.Flow);
                return false;
            case RequestInstruction request:
                await RequestAsync(token, request, cancellationToken);
                return false;
            case DelayInstruction delay:
                Delay(token, delay.Flow);
                return false;
            case CorrelateInstruction correlate:
                AddKeys(correlate.Keys.Of(ContextOf(token)));
                token.At++;
                return false;
            case TerminateInstruction terminate:
                var reason = terminate.Reason is null
                    ? null
                    : Esb.Core.Expressions.MessageValues.AsText(terminate.Reason.Evaluate(ContextOf(token)));
                EndAs(WorkflowState.Terminated, code: null, reason);
                return false;
            case ForkInstruction fork:
                Fork(token, fork);
                return false;
            case BranchEndInstruction:
                EndBranch(token);
                return false;
            case ForEachInstruction forEach:
                BeginItems(token, forEach);
                return false;
            case NextItemInstruction next:
                TakeNextItem(token, next);
                return false;
            case ChildInstruction child:
                StartChild(token, child);
                return false;
            case EndInstruction:
                State.Tokens.Clear();
                EndAs(WorkflowState.Completed, code: null, reason: null, token.Message);
                return false;
            default:
                throw new InvalidOperationException($"No instance knows how to run {instruction.GetType().Name}.");
        }
    }

    // A failure is repeated at once where a repetition may help; then it goes to whoever handles it.
    private async ValueTask RunStepAsync(Token token, RunInstruction run, CancellationToken cancellationToken)
    {
        var visit = token.Visit ??= ++State.Numbers;
        for (var attempt = 0; ; attempt++)
        {
            var (variables, outbox) = (new InstanceVariables(State.Variables), new StepOutbox());
            var context = ContextOf(token, variables, outbox, MessageIds.Derive(Id, $"{token.At} {visit}"));
            try
            {
                await _program.StepAt(token.At)(context, cancellationToken);
                await context.Message.Body.BufferAsync(InstanceVariables.LargestSum, cancellationToken);
                variables.Apply();
            }
            catch (EsbException ex) when (ex.IsTransient && attempt < _program.Model.Config.Retry.Immediate)
            {
                continue;
            }

            _outgoing.AddRange(outbox.Messages.Select(message => new OutboxMessage(Id.ToString(), message)));
            Take(token, context);
            (token.Retries, token.Visit) = (0, null);
            return;
        }
    }

    private void Take(Token token, MessageContext context)
    {
        token.Properties =
            context.Properties.Count == 0
                ? []
                : context.Properties.ToDictionary(property => property.Key, property => StoredValue.Of(property.Value));
        switch (context.Outcome)
        {
            case ProcessOutcome.Filtered:
                Respond(answer: null, failure: null);
                EndAs(WorkflowState.Completed, code: null, "filtered", token.Message);
                return;
            case ProcessOutcome.Responded:
                Respond(
                    context.Message with
                    {
                        Properties = context.Properties.Count == 0 ? null : new Dictionary<string, object>(context.Properties),
                    },
                    failure: null
                );
                break; // answers, and goes on with the message it had
            default:
                token.Message = StoredMessage.Of(context.Message);
                break;
        }

        token.At++;
    }

    // Once: the snapshot of the next checkpoint knows no caller any more.
    private void Respond(EsbMessage? answer, EsbException? failure)
    {
        if (State.Caller is { } caller)
            Answer = new InstanceAnswer(caller, answer, failure);
        State.Caller = null;
    }

    private MessageContext ContextOf(Token token, InstanceVariables? variables = null, StepOutbox? outbox = null, Guid? origin = null)
    {
        var message = token.Message.ToMessage() with
        {
            Properties =
                token.Properties.Count == 0
                    ? null
                    : token.Properties.ToDictionary(property => property.Key, property => property.Value.ToValue()),
        };
        return new MessageContext(message, Endpoint)
        {
            Variables = variables ?? new InstanceVariables(State.Variables),
            Outbox = outbox,
            Origin = origin,
            Process = $"workflow {Instance.Workflow}",
        };
    }

    private void Begin(EsbMessage message)
    {
        _taken.Add(message);
        State.Tokens.Add(new Token { Number = ++State.Numbers, Message = StoredMessage.Of(message) });
        if (_program.Model.Correlate.Names.Count > 0)
            AddKeys(_program.Model.Correlate.Of(new MessageContext(message, Endpoint)), isStart: true);
        if (_program.Model.Config.Timeout is { } timeout)
            _timers.Add(new StoredTimer(TimerId("timeout"), TimerKinds.Timeout, Id.ToString()) { Delay = timeout });
        _history.Add(new HistoryStep("start", "start") { Note = $"message {message.Id}" });
    }

    private void AddKeys(IReadOnlyList<KeyValuePair<string, string>> keys, bool isStart = false)
    {
        foreach (var (name, value) in keys)
            State.Keys[name] = value;
        if (isStart)
            AddKey(MatchedKeys.Hash(Instance.Workflow, keys), isExclusive: _program.Model.WhenRunning != WhenRunning.New);
        foreach (var key in State.Keys)
            AddKey(MatchedKeys.Hash(Instance.Workflow, [key]), isExclusive: false); // for searches
        foreach (var (_, match) in _program.Model.Waits.Where(wait => wait.Match.Names.All(State.Keys.ContainsKey)))
            AddKey(MatchedKeys.Hash(Instance.Workflow, KeysOf(match)), isExclusive: false);
    }

    private void AddKey(string hash, bool isExclusive)
    {
        if (State.KeyHashes.Add(hash))
            _keys.Add(new WorkflowKey(hash, isExclusive));
    }

    private IEnumerable<KeyValuePair<string, string>> KeysOf(MatchedKeys match) =>
        match.Names.Select(name =>
            State.Keys.TryGetValue(name, out var value)
                ? new KeyValuePair<string, string>(name, value)
                : throw new EsbException("ESB-WFL-KEY", $"The instance has no key '{name}' yet.", FaultKind.Invalid)
        );

    private Guid TimerId(string name) => MessageIds.Derive(Id, $"timer {name}");
}
