using System.Diagnostics.Metrics;
using Esb.Core.Diagnostics;

namespace Esb.Host.Reloading;

/// <summary>Counts reloads.</summary>
internal static class ReloadTelemetry
{
    private static readonly Meter Meter = new("Esb.Host");

    private static readonly Counter<long> Reloads = Meter.Counter<long>(EsbTelemetry.Metrics.Reloads);

    public static void Count(string outcome) => Reloads.Add(1, KeyValuePair.Create<string, object?>("outcome", outcome));
}
