using System.Diagnostics;
using System.Diagnostics.Metrics;
using Esb.Core.Diagnostics;
using Esb.Core.Workflows;

namespace Esb.Workflows;

/// <summary>Metrics of steps.</summary>
internal static class WorkflowsTelemetry
{
    private static readonly Meter Meter = new("Esb.Workflows");

    private static readonly Counter<long> LostCopies = Meter.CreateCounter<long>(
        EsbTelemetry.Metrics.LostCopies,
        "{message}",
        "Copies of wire taps that no topic took."
    );

    private static readonly Counter<long> Checkpoints = Meter.CreateCounter<long>(
        EsbTelemetry.Metrics.WorkflowCheckpoints,
        "{checkpoint}",
        "Checkpoints of workflows that were stored."
    );

    private static readonly Histogram<int> Groups = Meter.CreateHistogram<int>(
        EsbTelemetry.Metrics.WorkflowCommit,
        "{checkpoint}",
        "Checkpoints in one commit of the store."
    );

    public static void CountCheckpoint(WorkflowInstance instance) =>
        Checkpoints.Add(
            1,
            new TagList { { EsbTelemetry.Tags.Workflow, instance.Workflow }, { EsbTelemetry.Tags.State, instance.State.ToString() } }
        );

    public static void CountCommit(int checkpoints) => Groups.Record(checkpoints);

    public static void CountLostCopy(string step, string code) =>
        LostCopies.Add(1, new TagList { { EsbTelemetry.Tags.Step, step }, { EsbTelemetry.Tags.ErrorType, code } });
}
