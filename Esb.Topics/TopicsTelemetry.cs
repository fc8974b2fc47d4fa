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

    private static readonly Histogram<double> Duration = Meter.CreateHistogram(
        EsbTelemetry.Metrics.OperationDuration,
        "s",
        "Duration of publishing, until it was confirmed.",
        tags: null,
        new InstrumentAdvice<double> { HistogramBucketBoundaries = EsbTelemetry.DurationBuckets }
    );

    private static readonly Counter<long> Sent = Meter.CreateCounter<long>(
        EsbTelemetry.Metrics.SentMessages,
        "{message}",
        "Messages published."
    );

    private static readonly Counter<long> Unroutable = Meter.CreateCounter<long>(
        EsbTelemetry.Metrics.Unroutable,
        "{message}",
        "Messages that no endpoint subscribes to."
    );

    private static readonly Counter<long> ReplyAbandoned = Meter.CreateCounter<long>(
        EsbTelemetry.Metrics.ReplyAbandoned,
        "{message}",
        "Replies that found nobody who waited for them any more."
    );

    private static readonly Counter<long> Unidentified = Meter.CreateCounter<long>(
        EsbTelemetry.Metrics.Unidentified,
        "{message}",
        "Foreign messages without an id."
    );

    private static readonly Counter<long> Reserved = Meter.CreateCounter<long>(
        EsbTelemetry.Metrics.ReservedHeaders,
        "{header}",
        "Headers from outside that claimed a reserved name."
    );

    private static readonly Counter<long> RefusedFarm = Meter.CreateCounter<long>(
        EsbTelemetry.Metrics.RefusedFarmMessages,
        "{message}",
        "Messages between hosts that were refused."
    );

    private static readonly Counter<long> Nested = Meter.CreateCounter<long>(
        EsbTelemetry.Metrics.NestedHeaders,
        "{value}",
        "Header values from the broker that nest too deep to be read."
    );

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
