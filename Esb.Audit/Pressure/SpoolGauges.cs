using System.Diagnostics.Metrics;
using Esb.Core.Audit;
using Esb.Core.Diagnostics;

namespace Esb.Audit.Pressure;

/// <summary>Shows how large the spool is, and how old, as long as it is not disposed.</summary>
internal sealed class SpoolGauges : IDisposable
{
    private readonly Meter _meter = new("Esb.Audit");

    public SpoolGauges(IAuditSpool spool, TimeProvider time)
    {
        _meter.CreateObservableGauge(
            EsbTelemetry.Metrics.AuditSpoolSize,
            () => spool.Bytes,
            "By",
            "What audit facts take of the disk that wait to be moved to their store."
        );
        _meter.CreateObservableGauge(
            EsbTelemetry.Metrics.AuditQueueAge,
            () => spool.AgeOfOldest(time)?.TotalSeconds ?? 0,
            "s",
            "How long ago the oldest audit fact happened that waits to be moved to its store."
        );
        _meter.CreateObservableGauge(EsbTelemetry.Metrics.AuditSpoolLimit, () => spool.MaxBytes, "By", "The most that they may take.");
    }

    public void Dispose() => _meter.Dispose();
}
