using System.Diagnostics;
using System.Diagnostics.Metrics;
using Esb.Core.Diagnostics;

namespace Esb.Delivery.Intake;

/// <summary>Metrics of received messages.</summary>
internal static class IntakeTelemetry
{
    private static readonly Counter<long> Received = EndpointsTelemetry.Meter.Counter<long>(EsbTelemetry.Metrics.ReceivedMessages);

    private static readonly Histogram<double> Inbound = EndpointsTelemetry.Meter.Histogram<double>(EsbTelemetry.Metrics.InboundDuration);

    private static readonly Histogram<double> Request = EndpointsTelemetry.Meter.Histogram<double>(EsbTelemetry.Metrics.RequestDuration);

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
