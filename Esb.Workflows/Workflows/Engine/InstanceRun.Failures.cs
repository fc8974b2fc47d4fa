using System.Text.Json;
using Esb.Core.Errors;
using Esb.Core.Storage;
using Esb.Core.Workflows;
using Esb.Workflows.Workflows.Compiling;
using Esb.Workflows.Workflows.State;

namespace Esb.Workflows.Workflows.Engine;

/// <summary>Failures, branches, items, the undoing of scopes, and the end.</summary>
internal sealed partial class InstanceRun
{
    /// <summary>Stops the instance until an operator decides.</summary>
    public void Suspend(string code, string reason)
    {
        (Condition, Code, Reason) = (WorkflowState.Suspended, code, reason);
        Note(token: null, "suspended", $"{code}: {reason}");
    }

    /// <summary>Begins again where the instance stopped: what waited waits again.</summary>
    /// <param name="skip">True to go on behind the step that failed.</param>
    public void Resume(bool skip)
    {
        var isUndoing = Condition == WorkflowState.CompensationFailed;
        (Condition, Code, Reason) = (isUndoing && State.IsUndoing ? WorkflowState.Compensating : WorkflowState.Running, null, null);
        _budget = MostSteps;
        foreach (var token in State.Tokens)
        {
            token.Retries = 0;
            if (token.Wait is { Kind: WaitKind.Retry })
                EndWait(token);
            if (token.Wait is { Hash: { } hash } wait)
                _waits.Add(new WorkflowWait(wait.Number, hash));
        }

        if (skip && State.Tokens.FirstOrDefault(token => token.Wait is null) is { } stopped)
        {
            Note(stopped, "skipped", "by an operator");
            Skip(stopped);
        }
        else
        {
            Note(token: null, "retried", "by an operator");
        }
    }

    /// <summary>Ends the instance, and undoes its completed scopes if asked for.</summary>
    public void Terminate(string? code, string reason, bool compensate)
    {
        Note(token: null, "terminated", reason);
        if (!compensate || State.Scopes.Count == 0)
        {
            EndAs(WorkflowState.Terminated, code, reason);
            return;
        }

        var last = State.Scopes[^1];
        foreach (var token in State.Tokens)
            EndWait(token);
        State.Tokens.Clear();
        State.IsUndoing = true;
        (Condition, Code, Reason) = (WorkflowState.Compensating, code, reason);
        var undoing = new Token
        {
            Number = ++State.Numbers,
            Message = last.Message,
            At = last.At,
        };
        undoing.Frames.Add(
            new Frame
            {
                At = last.At,
                Scopes = 0,
                Afterwards = -1,
            }
        );
        State.Tokens.Add(undoing);
    }

    private void Fail(Token token, EsbException failure)
    {
        for (var at = token; at is not null; at = ParentOf(at))
        {
            for (var i = at.Frames.Count - 1; i >= 0; i--)
            {
                var frame = at.Frames[i];
                if (frame.Afterwards is not null)
                {
                    FailUndoing(token, failure);
                    return;
                }

                if (_program[frame.At] is not EnterInstruction guard || guard.TargetOf(failure.Code) is not { } target)
                    continue;
                CancelBelow(at);
                at.Frames.RemoveRange(i, at.Frames.Count - i);
                (at.Retries, at.Visit) = (0, null);
                if (at.Wait is not null)
                    EndWait(at);
                Handle(at, frame, target, failure);
                return;
            }
        }

        if (!TryAgainLater(token, failure))
            Suspend(failure.Code, failure.Message);
    }

    private void Handle(Token token, Frame guard, int target, EsbException failure)
    {
        var properties = token.Properties;
        properties["error.code"] = new StoredValue { Text = failure.Code };
        properties["error.reason"] = new StoredValue { Text = failure.Message };
        if (failure.CallAnswer is { } answer)
        {
            properties["error.status"] = new StoredValue { Number = answer.Status };
            if (answer.Body is { } body)
                properties["error.body"] = new StoredValue { Text = body };
        }

        if (LastScopeOf(token, guard.Scopes) is not { } scope)
        {
            token.At = target;
            return;
        }

        token.Frames.Add(
            new Frame
            {
                At = guard.At,
                Scopes = guard.Scopes,
                Afterwards = target,
                Message = token.Message,
                Properties = properties,
            }
        );
        Undo(token, scope);
    }

    private CompletedScope? LastScopeOf(Token token, int after) =>
        State.Scopes.Skip(after).LastOrDefault(scope => scope.Tokens.Contains(token.Number) || State.IsUndoing);

    private static void Undo(Token token, CompletedScope scope) => (token.At, token.Message) = (scope.At, scope.Message);

    private void GoOnUndoing(Token token)
    {
        var frame = token.Frames[^1];
        var done = State.Scopes.FindLastIndex(scope => scope.Tokens.Contains(token.Number) || State.IsUndoing);
        State.Scopes.RemoveAt(done);
        foreach (var other in State.Tokens.SelectMany(one => one.Frames).Where(other => other.Scopes > done))
            other.Scopes--; // of another branch: its own scopes have moved up
        if (LastScopeOf(token, frame.Scopes) is { } next)
        {
            Undo(token, next);
            return;
        }

        token.Frames.RemoveAt(token.Frames.Count - 1);
        if (frame.Afterwards == -1)
        {
            EndAs(WorkflowState.Compensated, Code, Reason);
            return;
        }

        (token.At, token.Message, token.Properties) = (frame.Afterwards!.Value, frame.Message!, frame.Properties!);
    }

    private void FailUndoing(Token token, EsbException failure)
    {
        if (TryAgainLater(token, failure))
            return;
        (Condition, Code, Reason) = (WorkflowState.CompensationFailed, failure.Code, failure.Message);
        var open = string.Join(", ", State.Scopes.AsEnumerable().Reverse().Select(scope => _program[scope.At].Place));
        Note(token: null, "compensation-failed", $"{failure.Code}: {failure.Message} To be undone by hand, or after a retry: {open}.");
    }

    private bool TryAgainLater(Token token, EsbException failure)
    {
        var delays = _program.Model.Config.Retry.Delays;
        if (!failure.IsTransient || token.Retries >= delays.Count)
            return false;
        var delay = delays[token.Retries++];
        Begin(token, WaitKind.Retry, hash: null, failure.RetryAfter > delay ? failure.RetryAfter : delay);
        return true;
    }

    private void Skip(Token token)
    {
        (token.Wait, token.Visit) = (null, null);
        switch (_program[token.At])
        {
            case ReceiveInstruction receive:
                token.At = receive.Next;
                break;
            case ForkInstruction fork:
                token.At = fork.Next;
                break;
            case BranchInstruction branch:
                token.At = branch.Otherwise;
                break;
            case ForEachInstruction:
                token.At = ((NextItemInstruction)_program[token.At + 1]).End;
                break;
            case EndInstruction or BranchEndInstruction:
                break;
            default:
                token.At++;
                break;
        }
    }

    private void Leave(Token token)
    {
        var frame = token.Frames[^1];
        token.Frames.RemoveAt(token.Frames.Count - 1);
        if (_program[frame.At] is EnterInstruction { Compensate: { } undo })
            State.Scopes.Add(new CompletedScope(undo, TokensAbove(token), token.Message));
        token.At++;
    }

    private List<int> TokensAbove(Token token)
    {
        var numbers = new List<int>();
        for (var at = token; at is not null; at = ParentOf(at))
            numbers.Add(at.Number);
        return numbers;
    }

    private Token? ParentOf(Token token) => token.Parent is { } parent ? State.Tokens.First(candidate => candidate.Number == parent) : null;

    private void Fork(Token token, ForkInstruction fork)
    {
        token.Wait = new Wait { Number = ++State.Numbers, Kind = WaitKind.Join };
        foreach (var (name, target) in fork.Branches)
        {
            State.Tokens.Add(
                new Token
                {
                    Number = ++State.Numbers,
                    Parent = token.Number,
                    Branch = name,
                    At = target,
                    Message = token.Message,
                    Properties = new Dictionary<string, StoredValue>(token.Properties),
                }
            );
        }
    }

    private void EndBranch(Token token)
    {
        var parent = ParentOf(token)!;
        State.Tokens.Remove(token);
        var fork = (ForkInstruction)_program[parent.At];
        if (++parent.Wait!.Ended < fork.Join)
            return;
        CancelBelow(parent);
        parent.Wait = null;
        parent.At = fork.Next;
    }

    private void CancelBelow(Token token)
    {
        foreach (var child in State.Tokens.Where(candidate => candidate.Parent == token.Number).ToList())
        {
            CancelBelow(child);
            EndWait(child);
            State.Tokens.Remove(child);
        }
    }

    private void BeginItems(Token token, ForEachInstruction forEach)
    {
        var source = forEach.Of is null
            ? token.Message
            : State.Variables.GetValueOrDefault(forEach.Of)?.Message
                ?? throw new EsbException("ESB-WFL-VARIABLE", $"The variable '{forEach.Of}' holds no message.", FaultKind.Invalid);
        var items = new List<StoredMessage>();
        foreach (var item in forEach.Items.Split(source.ToMessage().Body))
        {
            if (item.Fault is not null)
                throw item.Fault;
            items.Add(source with { Body = item.Body.Bytes, Type = item.ContentType });
        }

        token.Frames.Add(
            new Frame
            {
                At = token.At,
                Scopes = State.Scopes.Count,
                Items = items,
                Message = token.Message,
            }
        );
        token.At++;
    }

    private void TakeNextItem(Token token, NextItemInstruction next)
    {
        var frame = token.Frames[^1];
        if (frame.Item < frame.Items!.Count)
        {
            token.Properties["item.index"] = new StoredValue { Number = frame.Item };
            token.Message = frame.Items[frame.Item++];
            token.At++;
            return;
        }

        token.Frames.RemoveAt(token.Frames.Count - 1);
        token.Properties.Remove("item.index");
        token.Message = frame.Message!;
        token.At = next.End;
    }

    private void EndAs(WorkflowState state, string? code, string? reason, StoredMessage? last = null)
    {
        foreach (var token in State.Tokens.ToList())
            EndWait(token);
        State.Tokens.Clear();
        (Condition, Code, Reason) = (state, code, reason);
        _last = last;
    }

    private StoredMessage? _last;

    // Whatever the instance still has in the store goes with its end.
    private void End(WorkflowState state)
    {
        if (_program.Model.Config.Timeout is not null)
            _endedTimers.Add(TimerId("timeout"));
        if (state == WorkflowState.Completed)
            Respond(_last?.ToMessage(), failure: null);
        else
            Respond(
                answer: null,
                new EsbException(
                    "ESB-WFL-TERMINATED",
                    $"The workflow ended without an answer: {Reason ?? Code ?? "it was terminated"}.",
                    FaultKind.Internal
                )
            );
        if (State.Parent is not { } parent)
            return;
        var end = new ChildEnd(parent.Wait, state == WorkflowState.Completed ? _last : null, Reason);
        _timers.Add(
            new StoredTimer(TimerId("end"), TimerKinds.ChildEnd, parent.Instance.ToString())
            {
                Delay = TimeSpan.Zero,
                Data = JsonSerializer.Serialize(end, WorkflowJson.Default.ChildEnd),
            }
        );
    }
}
