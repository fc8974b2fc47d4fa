using System.Diagnostics.Metrics;
using Esb.Core.Diagnostics;

namespace Esb.Core.Pooling;

internal static class PoolTelemetry
{
    public static readonly Histogram<double> WaitDuration =
        EsbTelemetry.CoreMeter.CreateHistogram<double>(EsbTelemetry.Metrics.PoolWaitDuration, "s", "Time that callers waited for a free instance.");
}
