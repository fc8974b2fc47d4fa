using System.Diagnostics.Metrics;
using Esb.Core.Diagnostics;
using Esb.Delivery;

namespace Esb.Endpoints.Sql.Outbox;

/// <summary>Metrics of outboxes.</summary>
internal static class OutboxTelemetry
{
    private static readonly Gauge<long> Length = EndpointsTelemetry.Meter.Gauge<long>(EsbTelemetry.Metrics.OutboxLength);

    private static readonly Gauge<double> Age = EndpointsTelemetry.Meter.Gauge<double>(EsbTelemetry.Metrics.OutboxAge);

    public static void Record(string connection, long waiting, TimeSpan? oldestAge)
    {
        var tag = new KeyValuePair<string, object?>(EsbTelemetry.Tags.Connection, connection);
        Length.Record(waiting, tag);
        Age.Record(oldestAge?.TotalSeconds ?? 0, tag);
    }
}
