using System.Diagnostics.Metrics;
using Esb.Core.Diagnostics;

namespace Esb.Audit;

internal static class AuditTelemetry
{
    private static readonly Meter Meter = new("Esb.Audit");

    public static readonly UpDownCounter<long> QueueLength = Meter.CreateUpDownCounter<long>(
        EsbTelemetry.Metrics.AuditQueueLength,
        "{fact}",
        "Audit facts that wait to be moved to their store."
    );

    public static readonly Counter<long> Refused = Meter.CreateCounter<long>(
        EsbTelemetry.Metrics.AuditRefused,
        "{fact}",
        "Audit facts that their store refuses for good, put aside on this machine."
    );
}
