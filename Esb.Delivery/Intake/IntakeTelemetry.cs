using System.Diagnostics;
using System.Diagnostics.Metrics;
using Esb.Core.Diagnostics;

namespace Esb.Delivery.Intake;

/// <summary>Metrics of received messages.</summary>
internal static class IntakeTelemetry
{
    private static readonly Counter<long> Received = EndpointsTelemetry.Meter.CreateCounter<long>(
        EsbTelemetry.Metrics.ReceivedMessages,
        "{message}",
        "Messages taken in from outside."
    );

    private static readonly Histogram<double> Inbound = EndpointsTelemetry.Meter.CreateHistogram<double>(
        EsbTelemetry.Metrics.InboundDuration,
        "s",
        "From the adapter's hand-over until the first publish was confirmed."
    );

    private static readonly Histogram<double> Request = EndpointsTelemetry.Meter.CreateHistogram<double>(
        EsbTelemetry.Metrics.RequestDuration,
        "s",
        "From when an endpoint had a request until it had the answer."
    );

    public static void CountReceived(string endpoint, string outcome, string? party)
    {
        var tags = new TagList { { EsbTelemetry.Tags.Endpoint, endpoint }, { EsbTelemetry.Tags.Outcome, outcome } };
        if (party is not null)
            tags.Add(EsbTelemetry.Tags.Party, party);
        Received.Add(1, tags);
    }

    public static void RecordInbound(string endpoint, string topic, string? party, TimeSpan duration)
    {
        if (!Inbound.Enabled)
            return;
        var tags = new TagList { { EsbTelemetry.Tags.Endpoint, endpoint }, { EsbTelemetry.Tags.Topic, topic } };
        if (party is not null)
            tags.Add(EsbTelemetry.Tags.Party, party);
        Inbound.Record(duration.TotalSeconds, tags);
    }

    public static void RecordRequest(string endpoint, string outcome, string? party, TimeSpan duration)
    {
        if (!Request.Enabled)
            return;
        var tags = new TagList { { EsbTelemetry.Tags.Endpoint, endpoint }, { EsbTelemetry.Tags.Outcome, outcome } };
        if (party is not null)
            tags.Add(EsbTelemetry.Tags.Party, party);
        Request.Record(duration.TotalSeconds, tags);
    }
}
