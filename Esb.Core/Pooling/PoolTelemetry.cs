using System.Diagnostics.Metrics;
using Esb.Core.Diagnostics;

namespace Esb.Core.Pooling;

/// <summary>Metrics of the pools of this process.</summary>
internal static class PoolTelemetry
{
    public static readonly Histogram<double> WaitDuration = EsbTelemetry.CoreMeter.CreateHistogram<double>(
        EsbTelemetry.Metrics.PoolWaitDuration,
        "s",
        "Time that callers waited for a free instance."
    );

    static PoolTelemetry()
    {
        EsbTelemetry.CoreMeter.CreateObservableGauge(
            EsbTelemetry.Metrics.PoolInUse,
            () => Measure(status => (long)status.InUse),
            "{instance}",
            "Instances that are rented."
        );
        EsbTelemetry.CoreMeter.CreateObservableGauge(
            EsbTelemetry.Metrics.PoolCreated,
            () => Measure(status => (long)status.Created),
            "{instance}",
            "Instances that exist."
        );
        EsbTelemetry.CoreMeter.CreateObservableGauge(
            EsbTelemetry.Metrics.PoolMaximum,
            () => Measure(status => (long)status.Maximum),
            "{instance}",
            "The most instances that the pool may hold."
        );
        EsbTelemetry.CoreMeter.CreateObservableCounter(
            EsbTelemetry.Metrics.PoolWaits,
            () => Measure(status => status.Waits),
            "{wait}",
            "How often a caller had to wait for an instance."
        );
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
