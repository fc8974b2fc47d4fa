using Esb.Core.Audit;
using Esb.Core.Endpoints;
using Esb.Core.Messages;
using Microsoft.Extensions.Logging;

namespace Esb.Delivery.Outbound;

/// <summary>Records messages that an endpoint recognised as duplicates, so that no message is dropped silently. Thread-safe.</summary>
internal sealed partial class DuplicateRecords(string endpoint, IAuditTrail audit, TimeProvider time, ILogger logger)
{
    public async ValueTask RecordAsync(EsbMessage message, DuplicateNotice notice, TimeSpan? duration, CancellationToken cancellationToken)
    {
        if (notice.IsConflict)
            LogConflict(message.Id, endpoint, notice.Reason);
        DeliveryTelemetry.CountDuplicate(endpoint, notice.Code);
        var fact = AuditFacts.Of(message, AuditKind.Duplicate, time) with
        {
            Endpoint = endpoint,
            Duration = duration,
            Code = notice.Code,
            Reason = notice.Reason,
        };
        await audit.RecordAsync(fact, cancellationToken);
    }

    [LoggerMessage(
        EventId = 2410,
        Level = LogLevel.Warning,
        Message = "Message {MessageId} came to {Endpoint} again with another body: {Reason}"
    )]
    private partial void LogConflict(Guid messageId, string endpoint, string reason);
}
