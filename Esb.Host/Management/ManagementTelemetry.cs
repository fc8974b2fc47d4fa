using System.Diagnostics.Metrics;
using Esb.Core.Diagnostics;

namespace Esb.Host.Management;

/// <summary>Metrics of the management API.</summary>
internal static class ManagementTelemetry
{
    private static readonly Meter Meter = new("Esb.Host");

    private static readonly Counter<long> Refused = Meter.Counter<long>(EsbTelemetry.Metrics.RefusedManagement);

    public static void CountRefused(string code) => Refused.Add(1, new KeyValuePair<string, object?>(EsbTelemetry.Tags.ErrorType, code));
}
