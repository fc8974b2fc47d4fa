using Esb.Core.Audit;
using Esb.Core.Errors;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Microsoft.Extensions.Logging;

namespace Esb.Workflows.Workflows.Running;

/// <summary>Sends stored answers to callers, who may wait at another host. Thread-safe.</summary>
internal sealed partial class CallerAnswers(IReplyAddresses addresses, IAuditTrail audit, TimeProvider time, ILogger<CallerAnswers> logger)
{
    private static readonly TimeSpan Pause = TimeSpan.FromSeconds(1);

    /// <summary>Sends an answer, and records whether somebody still waited for it. An answer that is sent twice reaches its caller
    /// once.</summary>
    public async Task SendAsync(OutboxMessage stored, CancellationToken cancellationToken)
    {
        var reply = StoredAnswer.ReplyOf(stored);
        var isAwaited = await addresses.ReplyAsync(stored.Message.ReplyTo!.Address, reply, cancellationToken);
        var failure = FaultReply.Read(reply);
        var kind = isAwaited ? AuditKind.Replied : AuditKind.ReplyAbandoned;
        var fact = AuditFacts.Of(StoredAnswer.RequestOf(stored), kind, time) with
        {
            Endpoint = stored.Message.Endpoint,
            Process = stored.Message.Process,
            Code = failure?.Code,
            Reason = failure?.Message,
            Fields = StoredAnswer.InstanceOf(stored) is { } instance
                ? new Dictionary<string, string> { ["workflow.instance"] = instance }
                : new Dictionary<string, string>(),
        };
        while (true)
        {
            try
            {
                await audit.RecordAsync(fact, reply, CancellationToken.None);
                return;
            }
            catch (EsbException ex)
            {
                LogNotRecorded(stored.Message.CausedBy!.Value, ex.Message); // the answer itself is not repeated
                await Task.Delay(Pause, time, cancellationToken);
            }
        }
    }

    [LoggerMessage(
        EventId = 3013,
        Level = LogLevel.Warning,
        Message = "The answer to message {MessageId} was sent, and is not recorded yet: {Reason}"
    )]
    private partial void LogNotRecorded(Guid messageId, string reason);
}
