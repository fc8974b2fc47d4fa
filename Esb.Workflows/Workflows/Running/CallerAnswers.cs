using Esb.Core.Audit;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Core.Topics;
using Esb.Core.Workflows;
using Esb.Workflows.Workflows.Engine;
using Esb.Workflows.Workflows.State;
using Microsoft.Extensions.Logging;

namespace Esb.Workflows.Workflows.Running;

/// <summary>Sends the answers of instances to callers, who may wait at another host. Thread-safe.</summary>
internal sealed partial class CallerAnswers(IReplyAddresses addresses, IAuditTrail audit, TimeProvider time, ILogger<CallerAnswers> logger)
{
    /// <summary>Sends an answer, and records whether somebody still waited for it. Not awaited by the instance, which goes on.</summary>
    public void Send(WorkflowInstance instance, InstanceAnswer answer) =>
        _ = Task.Run(() => SendAsync(instance.Workflow, instance.Id, answer));

    /// <summary>Answers a caller for whom no instance starts.</summary>
    /// <param name="workflow">The workflow.</param>
    /// <param name="caller">The caller.</param>
    /// <param name="failure">Why; null where the workflow does not want the message.</param>
    public void Refuse(string workflow, Caller caller, EsbException? failure) =>
        _ = Task.Run(() => SendAsync(workflow, instance: null, new InstanceAnswer(caller, Message: null, failure)));

    private async Task SendAsync(string workflow, Guid? instance, InstanceAnswer answer)
    {
        try
        {
            var request = answer.Caller.Request.ToMessage();
            var reply = ReplyOf(request, answer);
            var isAwaited = await addresses.ReplyAsync(answer.Caller.Address, reply, CancellationToken.None);
            var fact = AuditFacts.Of(request, isAwaited ? AuditKind.Replied : AuditKind.ReplyAbandoned, time) with
            {
                Endpoint = WorkflowQueues.SubscriberOf(workflow),
                Process = $"workflow {workflow}",
                Code = answer.Failure?.Code,
                Reason = answer.Failure?.Message,
                Fields = instance is { } id
                    ? new Dictionary<string, string> { ["workflow.instance"] = id.ToString() }
                    : new Dictionary<string, string>(),
            };
            await audit.RecordAsync(fact, reply, CancellationToken.None);
        }
        catch (Exception ex)
        {
            LogNotAnswered(answer.Caller.Request.Id, workflow, ex);
        }
    }

    private EsbMessage ReplyOf(EsbMessage request, InstanceAnswer answer)
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

    [LoggerMessage(
        EventId = 3013,
        Level = LogLevel.Warning,
        Message = "The answer to message {MessageId} of workflow {Workflow} was not sent, or not recorded"
    )]
    private partial void LogNotAnswered(Guid messageId, string workflow, Exception exception);
}
