using System.Diagnostics.Metrics;
using Esb.Core.Diagnostics;

namespace Esb.Audit;

internal static class AuditTelemetry
{
    private static readonly Meter Meter = new("Esb.Audit");

    public static readonly UpDownCounter<long> QueueLength = Meter.UpDownCounter<long>(EsbTelemetry.Metrics.AuditQueueLength);

    public static readonly Counter<long> Refused = Meter.Counter<long>(EsbTelemetry.Metrics.AuditRefused);
}
