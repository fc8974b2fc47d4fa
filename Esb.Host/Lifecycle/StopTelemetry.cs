using System.Diagnostics.Metrics;
using Esb.Core.Diagnostics;

namespace Esb.Host.Lifecycle;

/// <summary>Counts the messages in flight at a stop; exported with the last metrics of the host.</summary>
internal static class StopTelemetry
{
    private static readonly Meter Meter = new("Esb.Host");

    private static readonly Counter<long> Drained = Meter.Counter<long>(EsbTelemetry.Metrics.Drained);

    private static readonly Counter<long> Abandoned = Meter.Counter<long>(EsbTelemetry.Metrics.Abandoned);

    /// <param name="underWay">Messages in flight when the intake stopped.</param>
    /// <param name="abandoned">Messages in flight at the drain time-out; queues may have delivered further messages meanwhile.</param>
    public static void Count(int underWay, int abandoned)
    {
        Drained.Add(Math.Max(0, underWay - abandoned));
        Abandoned.Add(abandoned);
    }
}
