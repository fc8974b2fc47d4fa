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
        _meter.ObservableGauge(EsbTelemetry.Metrics.AuditSpoolSize, () => spool.Bytes);
        _meter.ObservableGauge(EsbTelemetry.Metrics.AuditQueueAge, () => spool.AgeOfOldest(time)?.TotalSeconds ?? 0);
        _meter.ObservableGauge(EsbTelemetry.Metrics.AuditSpoolLimit, () => spool.MaxBytes);
    }

    public void Dispose() => _meter.Dispose();
}
