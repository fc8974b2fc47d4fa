using System.Diagnostics.Metrics;
using Esb.Core.Diagnostics;
using Esb.Delivery;

namespace Esb.Endpoints.Sql.Outbox;

/// <summary>Metrics of outboxes.</summary>
internal static class OutboxTelemetry
{
    private static readonly Gauge<long> Length = EndpointsTelemetry.Meter.CreateGauge<long>(
        EsbTelemetry.Metrics.OutboxLength,
        "{message}",
        "Messages that wait in the outbox of a database."
    );

    private static readonly Gauge<double> Age = EndpointsTelemetry.Meter.CreateGauge<double>(
        EsbTelemetry.Metrics.OutboxAge,
        "s",
        "How long the oldest of them has waited."
    );

    public static void Record(string connection, long waiting, TimeSpan? oldestAge)
    {
        var tag = new KeyValuePair<string, object?>(EsbTelemetry.Tags.Connection, connection);
        Length.Record(waiting, tag);
        Age.Record(oldestAge?.TotalSeconds ?? 0, tag);
    }
}
