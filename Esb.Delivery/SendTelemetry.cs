using System.Diagnostics;
using System.Diagnostics.Metrics;
using Esb.Core.Diagnostics;
using Esb.Core.Messages;
using Esb.Core.Topics;

namespace Esb.Delivery;

/// <summary>Metrics of what goes out: from queues, by calls and by relays.</summary>
public static class SendTelemetry
{
    private static readonly Counter<long> Sent =
        EndpointsTelemetry.Meter.CreateCounter<long>(EsbTelemetry.Metrics.SentOutside, "{message}", "Messages sent to outside.");

    private static readonly Histogram<double> Outbound = EndpointsTelemetry.Meter.CreateHistogram<double>(
        EsbTelemetry.Metrics.OutboundDuration, "s", "From when a message was taken from its queue until it was sent.");

    private static readonly Histogram<double> Adapter = EndpointsTelemetry.Meter.CreateHistogram<double>(
        EsbTelemetry.Metrics.AdapterDuration, "s", "One attempt inside of an outbound adapter.");

    /// <summary>A message from a queue was sent.</summary>
    /// <param name="endpoint">By this endpoint.</param>
    /// <param name="message">The message.</param>
    /// <param name="duration">Since it was taken from its queue.</param>
    public static void RecordDelivered(string endpoint, EsbMessage message, TimeSpan duration)
    {
        if (!Sent.Enabled && !Outbound.Enabled) return;
        var tags = TagsOf(endpoint, message);
        Sent.Add(1, tags);
        Outbound.Record(duration.TotalSeconds, tags);
    }

    /// <summary>A call sent a message.</summary>
    public static void CountCalled(string endpoint, EsbMessage message)
    {
        if (Sent.Enabled) Sent.Add(1, TagsOf(endpoint, message));
    }

    /// <summary>A relay passed a request on, and its answer back; or could not.</summary>
    public static void RecordRelayed(string endpoint, TimeSpan duration, string? error)
    {
        var tags = new TagList { { EsbTelemetry.Tags.Endpoint, endpoint } };
        if (error is null) Sent.Add(1, tags);
        else tags.Add(EsbTelemetry.Tags.ErrorType, error);
        Adapter.Record(duration.TotalSeconds, tags);
    }

    /// <summary>An adapter had a message for so long.</summary>
    public static void RecordAdapter(string endpoint, EsbMessage message, TimeSpan duration, string? error)
    {
        if (!Adapter.Enabled) return;
        var tags = TagsOf(endpoint, message);
        if (error is not null) tags.Add(EsbTelemetry.Tags.ErrorType, error);
        Adapter.Record(duration.TotalSeconds, tags);
    }

    /// <summary>The endpoint, the topic and the party that a message counts for.</summary>
    public static TagList TagsOf(string endpoint, EsbMessage message)
    {
        var tags = new TagList { { EsbTelemetry.Tags.Endpoint, endpoint } };
        if (TopicNames.Of(message.Subject) is { } topic) tags.Add(EsbTelemetry.Tags.Topic, topic);
        if (message.Party is { } party) tags.Add(EsbTelemetry.Tags.Party, party);
        return tags;
    }
}
