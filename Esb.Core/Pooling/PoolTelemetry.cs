using System.Diagnostics.Metrics;
using Esb.Core.Diagnostics;

namespace Esb.Core.Pooling;

/// <summary>Metrics of the pools of this process.</summary>
internal static class PoolTelemetry
{
    public static readonly Histogram<double> WaitDuration = EsbTelemetry.CoreMeter.Histogram<double>(EsbTelemetry.Metrics.PoolWaitDuration);

    static PoolTelemetry()
    {
        EsbTelemetry.CoreMeter.ObservableGauge(EsbTelemetry.Metrics.PoolInUse, () => Measure(status => (long)status.InUse));
        EsbTelemetry.CoreMeter.ObservableGauge(EsbTelemetry.Metrics.PoolCreated, () => Measure(status => (long)status.Created));
        EsbTelemetry.CoreMeter.ObservableGauge(EsbTelemetry.Metrics.PoolMaximum, () => Measure(status => (long)status.Maximum));
        EsbTelemetry.CoreMeter.ObservableCounter(EsbTelemetry.Metrics.PoolWaits, () => Measure(status => status.Waits));
    }

    /// <summary>Registers the instruments, before the first caller waits for a pool.</summary>
    public static void Announce() { }

    private static List<Measurement<long>> Measure(Func<PoolStatus, long> value) =>
        [
            .. PoolUsage.All.Select(pool => new Measurement<long>(
                value(pool.Status),
                new KeyValuePair<string, object?>(EsbTelemetry.Tags.Pool, pool.Owner)
            )),
        ];
}
