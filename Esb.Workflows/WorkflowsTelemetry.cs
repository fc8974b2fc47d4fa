using System.Diagnostics;
using System.Diagnostics.Metrics;
using Esb.Core.Diagnostics;
using Esb.Core.Workflows;

namespace Esb.Workflows;

/// <summary>Metrics of steps and of workflows.</summary>
internal static class WorkflowsTelemetry
{
    private static readonly Meter Meter = new("Esb.Workflows");

    private static readonly Counter<long> LostCopies = Meter.Counter<long>(EsbTelemetry.Metrics.LostCopies);

    private static readonly Counter<long> Checkpoints = Meter.Counter<long>(EsbTelemetry.Metrics.WorkflowCheckpoints);

    private static readonly Histogram<int> Groups = Meter.Histogram<int>(EsbTelemetry.Metrics.WorkflowCommit);

    private static readonly Counter<long> Started = Meter.Counter<long>(EsbTelemetry.Metrics.WorkflowStarted);

    private static readonly Counter<long> Ended = Meter.Counter<long>(EsbTelemetry.Metrics.WorkflowEnded);

    private static readonly Counter<long> Stopped = Meter.Counter<long>(EsbTelemetry.Metrics.WorkflowStopped);

    private static readonly Histogram<double> CheckpointDuration = Meter.Histogram<double>(EsbTelemetry.Metrics.WorkflowCheckpointDuration);

    private static readonly Histogram<double> Lateness = Meter.Histogram<double>(EsbTelemetry.Metrics.TimerLateness);

    /// <summary>Counts a stored checkpoint, and the start, end or stop of the instance that it stores.</summary>
    /// <param name="instance">The instance as it is stored now.</param>
    /// <param name="before">Its stored state before. A stop is counted where the state changes, so that an edit of a suspended instance
    /// does not count.</param>
    public static void CountCheckpoint(WorkflowInstance instance, WorkflowState before)
    {
        var workflow = new KeyValuePair<string, object?>(EsbTelemetry.Tags.Workflow, instance.Workflow);
        var tags = new TagList { workflow, { EsbTelemetry.Tags.State, instance.State.ToString() } };
        Checkpoints.Add(1, tags);
        if (instance.Version == 1)
            Started.Add(1, workflow);
        if (instance.IsEnded)
            Ended.Add(1, tags);
        if (instance.State != before && instance.State is (WorkflowState.Suspended or WorkflowState.CompensationFailed))
            Stopped.Add(1, tags);
    }

    public static void CountCommit(int checkpoints) => Groups.Record(checkpoints);

    public static void TimeCheckpoint(string workflow, TimeSpan duration) =>
        CheckpointDuration.Record(duration.TotalSeconds, new KeyValuePair<string, object?>(EsbTelemetry.Tags.Workflow, workflow));

    /// <summary>Records how late a timer is worked on.</summary>
    public static void TimeTimer(string kind, TimeSpan late) =>
        Lateness.Record(late.TotalSeconds, new KeyValuePair<string, object?>(EsbTelemetry.Tags.TimerKind, kind));

    public static void CountLostCopy(string step, string code) =>
        LostCopies.Add(1, new TagList { { EsbTelemetry.Tags.Step, step }, { EsbTelemetry.Tags.ErrorType, code } });
}
