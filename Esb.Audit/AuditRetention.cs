using Esb.Core.Audit;
using Esb.Core.Configuration;
using Esb.Core.Storage;
using Microsoft.Extensions.Logging;

namespace Esb.Audit;

/// <summary>Deletes audit facts that are older than the configured retention.</summary>
internal sealed partial class AuditRetention(
    Live<AuditConfig> config,
    IAuditRetention store,
    TimeProvider time,
    ILogger<AuditRetention> logger
) : RetentionPart(() => config.Current.Retention, time)
{
    protected override Task RemoveBeforeAsync(DateTimeOffset moment, CancellationToken cancellationToken) =>
        store.RemoveBeforeAsync(moment, cancellationToken);

    protected override void NoteFailure(string reason) => LogNotRemoved(reason);

    [LoggerMessage(
        EventId = 4005,
        Level = LogLevel.Warning,
        Message = "old audit facts could not be removed; trying again in an hour: {Reason}"
    )]
    private partial void LogNotRemoved(string reason);
}
