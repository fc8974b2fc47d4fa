using System.Diagnostics;
using System.Diagnostics.Metrics;
using Esb.Core.Diagnostics;

namespace Esb.Workflows;

/// <summary>Metrics of steps.</summary>
internal static class WorkflowsTelemetry
{
    private static readonly Meter Meter = new("Esb.Workflows");

    private static readonly Counter<long> LostCopies =
        Meter.CreateCounter<long>(EsbTelemetry.Metrics.LostCopies, "{message}", "Copies of wire taps that no topic took.");

    public static void CountLostCopy(string step, string code) =>
        LostCopies.Add(1, new TagList { { EsbTelemetry.Tags.Step, step }, { EsbTelemetry.Tags.ErrorType, code } });
}
