using System.Diagnostics;
using System.Diagnostics.Metrics;
using Esb.Core.Diagnostics;
using Esb.Core.Messages;
using Esb.Core.Topics;

namespace Esb.Delivery.Outbound;

/// <summary>Spans and metrics of deliveries, named after the OpenTelemetry conventions for messaging.</summary>
internal static class DeliveryTelemetry
{
    private static readonly Histogram<double> Duration = EndpointsTelemetry.Meter.CreateHistogram<double>(
        EsbTelemetry.Metrics.ProcessDuration,
        "s",
        "Duration of processing a delivered message."
    );

    private static readonly Counter<long> Consumed = EndpointsTelemetry.Meter.CreateCounter<long>(
        EsbTelemetry.Metrics.ConsumedMessages,
        "{message}",
        "Messages delivered to an endpoint."
    );

    private static readonly Counter<long> DeadLettered = EndpointsTelemetry.Meter.CreateCounter<long>(
        EsbTelemetry.Metrics.DeadLettered,
        "{message}",
        "Messages given up and kept as dead letters."
    );

    private static readonly Counter<long> Duplicates = EndpointsTelemetry.Meter.CreateCounter<long>(
        EsbTelemetry.Metrics.Duplicates,
        "{message}",
        "Messages that an endpoint had applied before."
    );

    private static readonly Counter<long> Parked = EndpointsTelemetry.Meter.CreateCounter<long>(
        EsbTelemetry.Metrics.Parked,
        "{message}",
        "Messages given up that wait, with their key, for an operator."
    );

    private static readonly Counter<long> Quarantined = EndpointsTelemetry.Meter.CreateCounter<long>(
        EsbTelemetry.Metrics.Quarantined,
        "{endpoint}",
        "Endpoints that were closed because opening their queue killed the process."
    );

    public static void CountQuarantined(string endpoint) =>
        Quarantined.Add(1, new KeyValuePair<string, object?>(EsbTelemetry.Tags.Endpoint, endpoint));

    public static Activity? Start(TopicDelivery delivery, string system, string endpoint)
    {
        var activity = EndpointsTelemetry.Source.StartActivity(
            $"process {delivery.Message.Subject}",
            ActivityKind.Consumer,
            delivery.Parent
        );
        if (activity is null)
            return Continue(delivery.Parent);
        if (!activity.IsAllDataRequested)
            return activity;
        return activity
            .SetTag(EsbTelemetry.Tags.System, system)
            .SetTag(EsbTelemetry.Tags.OperationType, "process")
            .SetTag(EsbTelemetry.Tags.OperationName, "process")
            .SetTag(EsbTelemetry.Tags.Destination, delivery.Message.Subject)
            .SetTag(EsbTelemetry.Tags.MessageId, delivery.Message.Id)
            .SetTag(EsbTelemetry.Tags.ConversationId, delivery.Message.ConversationId)
            .SetTag(EsbTelemetry.Tags.Endpoint, endpoint);
    }

    public static void Record(string system, string endpoint, TimeSpan duration, string? error)
    {
        var tags = new TagList
        {
            { EsbTelemetry.Tags.System, system },
            { EsbTelemetry.Tags.Endpoint, endpoint },
            { EsbTelemetry.Tags.OperationName, "process" },
        };
        Consumed.Add(1, tags);
        if (error is not null)
            tags.Add(EsbTelemetry.Tags.ErrorType, error);
        Duration.Record(duration.TotalSeconds, tags);
    }

    public static void CountDuplicate(string endpoint, string code) =>
        Duplicates.Add(1, new TagList { { EsbTelemetry.Tags.Endpoint, endpoint }, { EsbTelemetry.Tags.Outcome, code } });

    public static void CountParked(string endpoint, EsbMessage message, string code) => Parked.Add(1, TagsOf(endpoint, message, code));

    public static void CountDeadLetter(string endpoint, EsbMessage message, string code) =>
        DeadLettered.Add(1, TagsOf(endpoint, message, code));

    // Where no listener records spans, external systems and audit facts still get the trace of the sender.
    private static Activity? Continue(ActivityContext parent) =>
        parent == default
            ? null
            : new Activity("process") { TraceStateString = parent.TraceState }
                .SetParentId(parent.TraceId, parent.SpanId, parent.TraceFlags)
                .Start();

    private static TagList TagsOf(string endpoint, EsbMessage message, string code)
    {
        var tags = SendTelemetry.TagsOf(endpoint, message);
        tags.Add(EsbTelemetry.Tags.ErrorType, code);
        return tags;
    }
}
