using System.Diagnostics;
using System.Diagnostics.Metrics;
using Esb.Core.Diagnostics;
using Esb.Core.Messages;
using Esb.Core.Topics;

namespace Esb.Delivery;

/// <summary>Metrics of sent messages: from queues, by calls and by relays.</summary>
public static class SendTelemetry
{
    private static readonly Counter<long> Sent = EndpointsTelemetry.Meter.Counter<long>(EsbTelemetry.Metrics.SentOutside);

    private static readonly Histogram<double> Outbound = EndpointsTelemetry.Meter.Histogram<double>(EsbTelemetry.Metrics.OutboundDuration);

    private static readonly Histogram<double> Adapter = EndpointsTelemetry.Meter.Histogram<double>(EsbTelemetry.Metrics.AdapterDuration);

    /// <summary>Records a message sent from a queue.</summary>
    /// <param name="endpoint">The endpoint that sent it.</param>
    /// <param name="message">The message.</param>
    /// <param name="duration">The time since it was taken from its queue.</param>
    public static void RecordDelivered(string endpoint, EsbMessage message, TimeSpan duration)
    {
        if (!Sent.Enabled && !Outbound.Enabled)
            return;
        var tags = TagsOf(endpoint, message);
        Sent.Add(1, tags);
        Outbound.Record(duration.TotalSeconds, tags);
    }

    /// <summary>Counts a message sent by a call.</summary>
    public static void CountCalled(string endpoint, EsbMessage message)
    {
        if (Sent.Enabled)
            Sent.Add(1, TagsOf(endpoint, message));
    }

    /// <summary>Records a request relayed with its answer, or a failed relay.</summary>
    public static void RecordRelayed(string endpoint, TimeSpan duration, string? error)
    {
        var tags = new TagList { { EsbTelemetry.Tags.Endpoint, endpoint } };
        if (error is null)
            Sent.Add(1, tags);
        else
            tags.Add(EsbTelemetry.Tags.ErrorType, error);
        Adapter.Record(duration.TotalSeconds, tags);
    }

    /// <summary>Records the time that an adapter took for a message.</summary>
    public static void RecordAdapter(string endpoint, EsbMessage message, TimeSpan duration, string? error)
    {
        if (!Adapter.Enabled)
            return;
        var tags = TagsOf(endpoint, message);
        if (error is not null)
            tags.Add(EsbTelemetry.Tags.ErrorType, error);
        Adapter.Record(duration.TotalSeconds, tags);
    }

    /// <summary>The endpoint, topic and party tags of a message.</summary>
    public static TagList TagsOf(string endpoint, EsbMessage message)
    {
        var tags = new TagList { { EsbTelemetry.Tags.Endpoint, endpoint } };
        if (TopicNames.Of(message.Subject) is { } topic)
            tags.Add(EsbTelemetry.Tags.Topic, topic);
        if (message.Party is { } party)
            tags.Add(EsbTelemetry.Tags.Party, party);
        return tags;
    }
}
