using System.Diagnostics;
using System.Diagnostics.Metrics;
using Esb.Core.Diagnostics;
using Esb.Core.Messages;

namespace Esb.Topics;

/// <summary>Spans and metrics of publishing, named by the OpenTelemetry conventions for messaging.</summary>
internal static class TopicsTelemetry
{
    private static readonly ActivitySource Source = new("Esb.Topics");
    private static readonly Meter Meter = new("Esb.Topics");

    private static readonly Histogram<double> Duration = Meter.Histogram<double>(EsbTelemetry.Metrics.OperationDuration);

    private static readonly Counter<long> Sent = Meter.Counter<long>(EsbTelemetry.Metrics.SentMessages);

    private static readonly Counter<long> Unroutable = Meter.Counter<long>(EsbTelemetry.Metrics.Unroutable);

    private static readonly Counter<long> ReplyAbandoned = Meter.Counter<long>(EsbTelemetry.Metrics.ReplyAbandoned);

    private static readonly Counter<long> Unidentified = Meter.Counter<long>(EsbTelemetry.Metrics.Unidentified);

    private static readonly Counter<long> Reserved = Meter.Counter<long>(EsbTelemetry.Metrics.ReservedHeaders);

    private static readonly Counter<long> RefusedFarm = Meter.Counter<long>(EsbTelemetry.Metrics.RefusedFarmMessages);

    private static readonly Counter<long> Nested = Meter.Counter<long>(EsbTelemetry.Metrics.NestedHeaders);

    public static void CountRefusedFarmMessage() => RefusedFarm.Add(1);

    public static Activity? StartSend(EsbMessage message, string system, ActivityContext parent)
    {
        var activity = Source.StartActivity($"send {message.Subject}", ActivityKind.Producer, parent);
        if (activity is not { IsAllDataRequested: true })
            return activity;
        return activity
            .SetTag(EsbTelemetry.Tags.System, system)
            .SetTag(EsbTelemetry.Tags.OperationType, "send")
            .SetTag(EsbTelemetry.Tags.OperationName, "send")
            .SetTag(EsbTelemetry.Tags.Destination, message.Subject)
            .SetTag(EsbTelemetry.Tags.RoutingKey, message.Subject)
            .SetTag(EsbTelemetry.Tags.MessageId, message.Id)
            .SetTag(EsbTelemetry.Tags.ConversationId, message.ConversationId)
            .SetTag(EsbTelemetry.Tags.BodySize, message.Body.Length);
    }

    public static void RecordSend(string subject, string system, TimeSpan duration, string? error)
    {
        var tags = new TagList
        {
            { EsbTelemetry.Tags.System, system },
            { EsbTelemetry.Tags.OperationName, "send" },
            { EsbTelemetry.Tags.OperationType, "send" },
            { EsbTelemetry.Tags.Destination, subject },
        };
        if (error is not null)
            tags.Add(EsbTelemetry.Tags.ErrorType, error);
        Sent.Add(1, tags);
        Duration.Record(duration.TotalSeconds, tags);
    }

    public static void CountUnroutable() => Unroutable.Add(1);

    public static void CountReplyAbandoned() => ReplyAbandoned.Add(1);

    public static void CountUnidentified() => Unidentified.Add(1);

    public static void CountNested() => Nested.Add(1);

    public static void CountReserved(int headers)
    {
        if (headers > 0)
            Reserved.Add(headers);
    }
}
