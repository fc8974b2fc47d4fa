using System.Globalization;
using System.Security.Cryptography;
using System.Text.Json;
using System.Text.Json.Nodes;
using Esb.Core.Errors;
using Esb.Core.Expressions;
using Esb.Core.Messages;
using Esb.Core.Storage;
using Esb.Core.Workflows;
using Esb.Workflows.Workflows.Compiling;
using Esb.Workflows.Workflows.State;

namespace Esb.Workflows.Workflows.Engine;

/// <summary>Waits: how they begin, and what ends them.</summary>
internal sealed partial class InstanceRun
{
    private static readonly TimeSpan ShortestTimer = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan LongestTimer = TimeSpan.FromDays(5 * 366);

    /// <summary>Hands over a message for which a token waits.</summary>
    /// <returns>False if none waits for it any more.</returns>
    public bool Deliver(int wait, EsbMessage message)
    {
        if (FindWaiting(wait) is not { Wait: { } waited } token)
            return false;
        if (waited.Request is { } request)
        {
            TakeReply(token, request, message);
            return true;
        }

        if (waited.Kind is not (WaitKind.Receive or WaitKind.Collect))
            return false;
        _taken.Add(message);
        var stored = StoredMessage.Of(message);
        if (_program[token.At] is ReceiveInstruction receive)
        {
            Note(token, "received", $"message {message.Id}");
            EndWait(token);
            TrySet(token, receive.As, new StoredValue { Message = stored }, () => (token.Message, token.At) = (stored, receive.Next));
            return true;
        }

        AddCollected(token, waited, ((CollectInstruction)_program[token.At]).Flow, stored);
        return true;
    }

    /// <summary>Ends the time of a wait.</summary>
    /// <returns>False if the wait is over already.</returns>
    public bool Fire(int wait, Guid timer)
    {
        if (FindWaiting(wait) is not { Wait: { } waited } token || (waited.Timer != timer && waited.Limit != timer))
            return false;
        switch (waited.Kind)
        {
            case WaitKind.Retry:
                Note(token, "retry", $"repetition {token.Retries}");
                EndWait(token);
                return true;
            case WaitKind.Delay:
                EndWait(token);
                token.At++;
                return true;
            case WaitKind.Collect:
                Note(token, "collected", $"{waited.Collected!.Count} messages, the time is over");
                CompleteCollection(token, waited, ((CollectInstruction)_program[token.At]).Flow);
                return true;
            case WaitKind.Request:
                EndRequest(token);
                return true;
            case WaitKind.Receive:
                Note(token, "timeout", "no message came in time");
                var receive = (ReceiveInstruction)_program[token.At];
                EndWait(token);
                if (receive.OnTimeout is { } target)
                    token.At = target;
                else
                    Fail(token, new EsbException("ESB-WFL-TIMEOUT", "No message came in time.", FaultKind.Invalid));
                return true;
            default:
                return false;
        }
    }

    /// <summary>Goes on after the end of an instance that this one runs.</summary>
    public bool EndChild(ChildEnd end)
    {
        if (FindWaiting(end.Wait) is not { Wait.Kind: WaitKind.Child } token)
            return false;
        token.Wait = null;
        if (end.Message is null)
        {
            Fail(
                token,
                new EsbException(
                    "ESB-WFL-CHILD",
                    $"The workflow that the step runs was terminated: {end.Reason ?? "no reason"}.",
                    FaultKind.Invalid
                )
            );
            return true;
        }

        Note(token, "ended", "the other workflow has completed");
        token.Message = end.Message;
        token.At++;
        return true;
    }

    private Token? FindWaiting(int wait) =>
        Condition is WorkflowState.Running or WorkflowState.Waiting or WorkflowState.Compensating
            ? Resume().State.Tokens.FirstOrDefault(token => token.Wait?.Number == wait)
            : null;

    private InstanceRun Resume()
    {
        if (Condition == WorkflowState.Waiting)
            Condition = WorkflowState.Running;
        return this;
    }

    /// <summary>Sets variables as an operator says; null removes one. The history keeps the digests before and after.</summary>
    public void SetVariables(JsonObject variables)
    {
        foreach (var (name, value) in variables)
        {
            var before = State.Variables.GetValueOrDefault(name);
            if (value is null)
                State.Variables.Remove(name);
            else
                InstanceVariables.Set(State.Variables, name, ValueOf(value));
            Note(token: null, "variable", $"{name}: {DigestOf(before)} became {DigestOf(State.Variables.GetValueOrDefault(name))}");
        }
    }

    public void NoteDecision(OperatorDecision decision, string action) =>
        Note(token: null, action, $"by {decision.By}{(decision.Reason is { } reason ? $": {reason}" : "")}");

    private static StoredValue ValueOf(JsonNode value) =>
        value.GetValueKind() switch
        {
            JsonValueKind.Number => new StoredValue { Number = value.GetValue<double>() },
            JsonValueKind.True or JsonValueKind.False => new StoredValue { Flag = value.GetValue<bool>() },
            JsonValueKind.String => new StoredValue { Text = value.GetValue<string>() },
            _ => new StoredValue { Text = value.ToJsonString() },
        };

    private static string DigestOf(StoredValue? value) =>
        value is null
            ? "nothing"
            : Convert.ToHexStringLower(SHA256.HashData(JsonSerializer.SerializeToUtf8Bytes(value, WorkflowJson.Default.StoredValue)))[..16];

    /// <summary>Stands at the counterparts of its steps, and waits as they do.</summary>
    /// <param name="map">Where they are in the definition of this run.</param>
    /// <param name="before">The hash of the definition before.</param>
    public void MoveTo(PositionMap map, string before)
    {
        foreach (var token in State.Tokens)
        {
            token.At = map.Find(token.At)!.Value;
            foreach (var frame in token.Frames)
            {
                frame.At = map.Find(frame.At)!.Value;
                if (frame.Afterwards is >= 0 and var afterwards)
                    frame.Afterwards = map.Find(afterwards)!.Value;
            }

            if (token.Wait is { Hash: not null, Request: null } wait)
                WaitAnew(wait, _program[token.At]);
        }

        for (var i = 0; i < State.Scopes.Count; i++)
            State.Scopes[i] = State.Scopes[i] with { At = map.Find(State.Scopes[i].At)!.Value };
        AddKeys([]); // of the waits of this definition
        Note(token: null, "migrated", $"from {before[..12]} to {_program.Hash[..12]}");
    }

    private void WaitAnew(Wait wait, Instruction instruction)
    {
        var subjects = instruction is ReceiveInstruction receive ? receive.Subjects : ((CollectInstruction)instruction).Flow.Subjects;
        var hash = MatchedKeys.Hash(subjects, MatchedKeys.Hash(Instance.Workflow, KeysOf(PositionMap.MatchOf(instruction))));
        if (hash == wait.Hash)
            return;
        wait.Hash = hash;
        if (Condition is WorkflowState.Suspended or WorkflowState.CompensationFailed)
            return; // it waits again when an operator lets it go on
        _endedWaits.Add(wait.Number);
        _waits.Add(new WorkflowWait(wait.Number, hash));
    }

    /// <summary>Goes on after a crash of the host that worked on it.</summary>
    public void Recover() => Resume();

    private void Receive(Token token, ReceiveInstruction receive)
    {
        var hash = MatchedKeys.Hash(receive.Subjects, MatchedKeys.Hash(Instance.Workflow, KeysOf(receive.Match)));
        Begin(token, WaitKind.Receive, hash, receive.Timeout);
    }

    private void Collect(Token token, CollectFlow flow)
    {
        var hash = MatchedKeys.Hash(flow.Subjects, MatchedKeys.Hash(Instance.Workflow, KeysOf(flow.Match)));
        var number = ++State.Numbers;
        var limit = flow.Within is { } within ? AddTimer(number, "within", within) : (Guid?)null;
        token.Wait = new Wait
        {
            Number = number,
            Kind = WaitKind.Collect,
            Hash = hash,
            Collected = [],
            Limit = limit,
            After = flow.Idle,
        };
        if (flow.Idle is { } idle)
            token.Wait.Timer = AddTimer(number, "idle", idle);
        _waits.Add(new WorkflowWait(number, hash));
    }

    private void AddCollected(Token token, Wait wait, CollectFlow flow, StoredMessage message)
    {
        wait.Collected!.Add(message);
        var isFull =
            wait.Collected.Count >= Math.Min(flow.Count ?? int.MaxValue, 1000)
            || wait.Collected.Sum(one => (long)one.Body.Length) > InstanceVariables.LargestValue / 2;
        var context = ContextOf(token).Showing(message.ToMessage());
        if (isFull || flow.If?.Holds(context) == true)
        {
            Note(token, "collected", $"{wait.Collected.Count} messages");
            CompleteCollection(token, wait, flow);
            return;
        }

        if (flow.Idle is { } idle)
            wait.Timer = AddTimer(wait.Number, "idle", idle); // replaces the one before
    }

    private void CompleteCollection(Token token, Wait wait, CollectFlow flow)
    {
        EndWait(token);
        var last = wait.Collected!.Count > 0 ? wait.Collected[^1] : token.Message;
        TrySet(
            token,
            flow.As,
            new StoredValue { List = wait.Collected },
            () =>
            {
                token.Message = last;
                token.At++;
            }
        );
    }

    private void TrySet(Token token, string? variable, StoredValue value, Action then)
    {
        try
        {
            if (variable is not null)
                InstanceVariables.Set(State.Variables, variable, value);
            then();
        }
        catch (EsbException ex)
        {
            Fail(token, ex);
        }
    }

    private void Delay(Token token, DelayFlow flow)
    {
        if (flow.For is { } time)
        {
            Begin(token, WaitKind.Delay, hash: null, time);
            return;
        }

        var text = MessageValues.AsText(flow.Until!.Evaluate(ContextOf(token)));
        if (text is null || !DateTimeOffset.TryParse(text, CultureInfo.InvariantCulture, DateTimeStyles.AssumeUniversal, out var until))
            throw new EsbException(
                "ESB-WFL-TIMER",
                "The value of the delay is not a time such as 2027-01-01T08:00:00Z.",
                FaultKind.Invalid
            );
        if (until > _time.GetUtcNow() + LongestTimer)
            throw new EsbException("ESB-WFL-TIMER", "The instant of the delay is more than 5 years away.", FaultKind.Invalid);
        var number = ++State.Numbers;
        var timer = TimerId($"{number} until");
        _timers.Add(new StoredTimer(timer, TimerKinds.Wait, Id.ToString()) { Until = until, Data = Number(number) });
        token.Wait = new Wait
        {
            Number = number,
            Kind = WaitKind.Delay,
            Timer = timer,
        };
    }

    private void Begin(Token token, WaitKind kind, string? hash, TimeSpan? time, Guid? request = null)
    {
        var number = ++State.Numbers;
        token.Wait = new Wait
        {
            Number = number,
            Kind = kind,
            Hash = hash,
            Request = request,
            After = time,
            Timer = time is { } after ? AddTimer(number, "time", after) : null,
        };
        if (hash is not null)
            _waits.Add(new WorkflowWait(number, hash));
    }

    private Guid AddTimer(int wait, string name, TimeSpan time)
    {
        var id = TimerId($"{wait} {name}");
        _timers.RemoveAll(timer => timer.Id == id);
        _timers.Add(new StoredTimer(id, TimerKinds.Wait, Id.ToString()) { Delay = time, Data = Number(wait) });
        return id;
    }

    private void EndWait(Token token)
    {
        if (token.Wait is not { } wait)
            return;
        token.Wait = null;
        EndTimer(wait.Timer);
        EndTimer(wait.Limit);
        if (wait.Child is { } child)
            Abandon(child);
        if (wait.Hash is null)
            return;
        if (_waits.RemoveAll(begun => begun.Number == wait.Number) == 0)
            _endedWaits.Add(wait.Number);
    }

    // It does not start any more, or ends as soon as this is stored.
    private void Abandon(ChildRun child)
    {
        EndTimer(child.Start);
        _timers.Add(
            new StoredTimer(TimerKinds.TerminateId(child.Instance), TimerKinds.Terminate, child.Instance.ToString())
            {
                Delay = TimeSpan.Zero,
            }
        );
    }

    private void EndTimer(Guid? timer)
    {
        if (timer is not { } id)
            return;
        _timers.RemoveAll(begun => begun.Id == id);
        _endedTimers.Add(id);
    }

    private void StartChild(Token token, ChildInstruction child)
    {
        ParentWait? parent = null;
        var visit = ++State.Numbers;
        var message = token.Message with { Id = MessageIds.Derive(Id, $"child {token.At} {visit}") };
        var timer = TimerId($"start {visit}");
        if (child.Waits)
        {
            token.Wait = new Wait
            {
                Number = ++State.Numbers,
                Kind = WaitKind.Child,
                Child = new ChildRun(InstanceIds.Of(child.Workflow, message.ToMessage()), timer),
            };
            parent = new ParentWait(Id, token.Wait.Number);
        }
        else
        {
            token.At++;
        }

        var start = JsonSerializer.Serialize(new ChildStart(message, parent), WorkflowJson.Default.ChildStart);
        _timers.Add(new StoredTimer(timer, TimerKinds.Start, child.Workflow) { Delay = TimeSpan.Zero, Data = start });
    }

    private static string Number(int number) => number.ToString(CultureInfo.InvariantCulture);
}
