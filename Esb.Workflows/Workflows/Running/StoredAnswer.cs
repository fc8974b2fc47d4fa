using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Core.Workflows;
using Esb.Workflows.Workflows.Engine;

namespace Esb.Workflows.Workflows.Running;

/// <summary>Answers to callers as messages of the outbox: stored by the checkpoint that gives them, and sent by whichever host finds
/// them.</summary>
internal static class StoredAnswer
{
    // An answer does not wait for what its instance published before.
    private const string OfInstance = "answer of ";
    private const string OfNone = "answer to ";

    /// <summary>Makes the message of an answer.</summary>
    /// <param name="workflow">The workflow.</param>
    /// <param name="instance">The instance that answers; null where none starts.</param>
    /// <param name="answer">The answer.</param>
    /// <param name="time">The clock.</param>
    public static OutboxMessage Of(string workflow, Guid? instance, InstanceAnswer answer, TimeProvider time)
    {
        var request = answer.Caller.Request.ToMessage();
        // The correlation id of the reply is the id of the request: in the store it is that of the request, for the audit.
        var message = ReplyTo(request, answer, time) with
        {
            CorrelationId = request.CorrelationId,
            Key = request.Key,
            Party = request.Party,
        };
        var outgoing = new OutgoingMessage(message, WorkflowQueues.SubscriberOf(workflow), $"workflow {workflow}", default)
        {
            CausedBy = request.Id,
            ReplyTo = new AnswerAddress(answer.Caller.Address, request.Subject),
        };
        return new OutboxMessage(instance is { } id ? $"{OfInstance}{id}" : $"{OfNone}{request.Id}", outgoing);
    }

    /// <summary>The request, without its content.</summary>
    public static EsbMessage RequestOf(OutboxMessage stored) =>
        stored.Message.Message with
        {
            Id = stored.Message.CausedBy!.Value,
            Subject = stored.Message.ReplyTo!.RequestSubject,
            ContentType = null,
            Headers = MessageHeaders.Empty,
            Body = MessageBody.Empty,
        };

    /// <summary>The reply as the caller gets it.</summary>
    public static EsbMessage ReplyOf(OutboxMessage stored) =>
        stored.Message.Message with
        {
            CorrelationId = stored.Message.CausedBy!.Value.ToString(),
            Key = null,
            Party = null,
        };

    /// <summary>The instance that answers; null where none started.</summary>
    public static string? InstanceOf(OutboxMessage stored) =>
        stored.Owner.StartsWith(OfInstance, StringComparison.Ordinal) ? stored.Owner[OfInstance.Length..] : null;

    private static EsbMessage ReplyTo(EsbMessage request, InstanceAnswer answer, TimeProvider time)
    {
        if (answer.Failure is { } failure)
            return FaultReply.Of(request, failure, time);
        if (answer.Message is not { } message)
            return FilteredAnswer.ReplyTo(request, time);
        try
        {
            var status = message.Properties is { } properties ? ProcessStatus.Of(properties) : null;
            return request.Reply(message.Body, time) with
            {
                ContentType = message.ContentType,
                Headers = ProcessStatus.On(message.Headers.Without(EsbHeaders.Hops), status),
            };
        }
        catch (EsbException ex)
        {
            return FaultReply.Of(request, ex, time);
        }
    }
}
