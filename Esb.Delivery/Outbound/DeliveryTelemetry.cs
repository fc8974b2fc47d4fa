using System.Diagnostics;
using System.Diagnostics.Metrics;
using Esb.Core.Diagnostics;
using Esb.Core.Messages;
using Esb.Core.Topics;

namespace Esb.Delivery.Outbound;

/// <summary>Spans and metrics of deliveries, named after the OpenTelemetry conventions for messaging.</summary>
internal static class DeliveryTelemetry
{
    private static readonly Histogram<double> Duration = EndpointsTelemetry.Meter.Histogram<double>(EsbTelemetry.Metrics.ProcessDuration);

    private static readonly Counter<long> Consumed = EndpointsTelemetry.Meter.Counter<long>(EsbTelemetry.Metrics.ConsumedMessages);

    private static readonly Counter<long> DeadLettered = EndpointsTelemetry.Meter.Counter<long>(EsbTelemetry.Metrics.DeadLettered);

    private static readonly Counter<long> Duplicates = EndpointsTelemetry.Meter.Counter<long>(EsbTelemetry.Metrics.Duplicates);

    private static readonly Counter<long> Parked = EndpointsTelemetry.Meter.Counter<long>(EsbTelemetry.Metrics.Parked);

    private static readonly Counter<long> Quarantined = EndpointsTelemetry.Meter.Counter<long>(EsbTelemetry.Metrics.Quarantined);

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
