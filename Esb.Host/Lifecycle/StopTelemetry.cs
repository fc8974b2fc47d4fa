using System.Diagnostics.Metrics;
using Esb.Core.Diagnostics;

namespace Esb.Host.Lifecycle;

/// <summary>Counts what a stop found under way; exported with the last metrics of the host.</summary>
internal static class StopTelemetry
{
    private static readonly Meter Meter = new("Esb.Host");

    private static readonly Counter<long> Drained =
        Meter.CreateCounter<long>(EsbTelemetry.Metrics.Drained, "{message}", "Messages under way when the host stopped that were finished, or given back to their queue, in time.");

    private static readonly Counter<long> Abandoned =
        Meter.CreateCounter<long>(EsbTelemetry.Metrics.Abandoned, "{message}", "Messages still under way when the time to stop was up.");

    /// <param name="underWay">Messages under way when the intake stopped.</param>
    /// <param name="abandoned">Those that were left when the time was up; more may have come meanwhile out of queues.</param>
    public static void Count(int underWay, int abandoned)
    {
        Drained.Add(Math.Max(0, underWay - abandoned));
        Abandoned.Add(abandoned);
    }
}
