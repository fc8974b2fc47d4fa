using Esb.Core.Configuration;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Core.Workflows;
using Esb.Workflows.Workflows.Compiling;
using Esb.Workflows.Workflows.State;

namespace Esb.Workflows.Workflows.Engine;

/// <summary>Requests: they leave with the checkpoint that begins the wait, and their reply comes to any host.</summary>
internal sealed partial class InstanceRun
{
    private async ValueTask RequestAsync(Token token, RequestInstruction request, CancellationToken cancellationToken)
    {
        var outbox = new StepOutbox();
        var context = ContextOf(token, variables: null, outbox, MessageIds.Derive(Id, $"{token.At} {++State.Numbers}"));
        await _program.StepAt(token.At)(context, cancellationToken);
        var outgoing = outbox.Messages.Single() with { ReplyUntil = _time.GetUtcNow() + request.Timeout };
        _outgoing.Add(new OutboxMessage(Id.ToString(), outgoing));
        var hash = MatchedKeys.HashOfReply(outgoing.Message.Id);
        _keys.Add(new WorkflowKey(hash, IsExclusive: false)); // a reply finds the instance by it, also while no wait is open
        Begin(token, WaitKind.Request, hash, request.Timeout, outgoing.Message.Id);
    }

    private void TakeReply(Token token, Guid request, EsbMessage reply)
    {
        var instruction = (RequestInstruction)_program[token.At];
        var failure = FaultReply.Read(reply);
        var asked = token.Message.ToMessage() with { Id = request, Subject = instruction.Subject.Value };
        _replies.Add(new TakenReply(asked, reply, instruction.Place, failure));
        _history.Add(
            new HistoryStep(instruction.Place, "reply")
            {
                Branch = token.Branch,
                Code = failure?.Code,
                Note = failure?.Message ?? $"message {reply.Id}",
            }
        );
        EndWait(token);
        if (failure is not null)
        {
            FailRequest(token, failure);
            return;
        }

        var context = ContextOf(token);
        ProcessStatus.TakeOver(context, reply);
        (token.Repeated, token.Retries) = (0, 0);
        Take(token, context);
    }

    private void EndRequest(Token token)
    {
        var request = (RequestInstruction)_program[token.At];
        Note(token, "timeout", "no reply came in time");
        EndWait(token);
        var time = Duration.Format(request.Timeout);
        FailRequest(token, new EsbException("ESB-REQUEST-TIMEOUT", $"No reply from {request.Subject} within {time}.", FaultKind.Timeout));
    }

    // Repeated at once as any step; each request has an id of its own.
    private void FailRequest(Token token, EsbException failure)
    {
        if (failure.IsTransient && token.Repeated < _program.Model.Config.Retry.Immediate)
        {
            token.Repeated++;
            return;
        }

        token.Repeated = 0;
        Fail(token, failure);
    }
}

/// <summary>A reply that an instance took.</summary>
/// <param name="Request">The request.</param>
/// <param name="Reply">The reply.</param>
/// <param name="Step">The step that asked.</param>
/// <param name="Failure">The failure that the reply is; null if it is none.</param>
internal sealed record TakenReply(EsbMessage Request, EsbMessage Reply, string Step, EsbException? Failure);
