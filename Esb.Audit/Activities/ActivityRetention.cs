using Esb.Core.Activities;
using Esb.Core.Configuration;
using Esb.Core.Storage;
using Microsoft.Extensions.Logging;

namespace Esb.Audit.Activities;

/// <summary>Deletes items without new facts for the retention of audit facts.</summary>
internal sealed partial class ActivityRetention(
    Live<AuditConfig> config,
    IActivityStore store,
    TimeProvider time,
    ILogger<ActivityRetention> logger
) : RetentionPart(() => config.Current.Retention, time)
{
    protected override Task RemoveBeforeAsync(DateTimeOffset moment, CancellationToken cancellationToken) =>
        store.RemoveBeforeAsync(moment, cancellationToken);

    protected override void NoteFailure(string reason) => LogNotRemoved(reason);

    [LoggerMessage(
        EventId = 4031,
        Level = LogLevel.Warning,
        Message = "old items of activities could not be removed; trying again in an hour: {Reason}"
    )]
    private partial void LogNotRemoved(string reason);
}
