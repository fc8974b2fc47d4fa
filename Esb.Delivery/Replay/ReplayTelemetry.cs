using System.Diagnostics;
using System.Diagnostics.Metrics;
using Esb.Core.Diagnostics;
using Esb.Core.Messages;

namespace Esb.Delivery.Replay;

/// <summary>Spans and metrics of replays. A replay is a trace of its own, linked to the trace of the original message.</summary>
internal static class ReplayTelemetry
{
    private static readonly Counter<long> Replayed = EndpointsTelemetry.Meter.Counter<long>(EsbTelemetry.Metrics.Replayed);

    public static Activity? Start(string? traceParent, EsbMessage message, string endpoint, Guid? job)
    {
        IEnumerable<ActivityLink>? links = ActivityContext.TryParse(traceParent, null, isRemote: true, out var original)
            ? [new ActivityLink(original)]
            : null;
        var activity = EndpointsTelemetry.Source.StartActivity(
            ActivityKind.Producer,
            default(ActivityContext),
            null,
            links,
            name: $"replay {endpoint}"
        );
        if (activity is not { IsAllDataRequested: true })
            return activity;
        return activity
            .SetTag(EsbTelemetry.Tags.OperationType, "send")
            .SetTag(EsbTelemetry.Tags.OperationName, "replay")
            .SetTag(EsbTelemetry.Tags.MessageId, message.Id)
            .SetTag(EsbTelemetry.Tags.ConversationId, message.ConversationId)
            .SetTag(EsbTelemetry.Tags.Endpoint, endpoint)
            .SetTag(EsbTelemetry.Tags.ReplayJob, job);
    }

    public static void CountReplayed(string endpoint) =>
        Replayed.Add(1, new KeyValuePair<string, object?>(EsbTelemetry.Tags.Endpoint, endpoint));
}
