using System.Text.Json;
using Esb.Core.Workflows;
using Esb.Host.Metrics;

namespace Esb.Host.Management.Metrics;

/// <summary>The metrics of a workflow.</summary>
internal sealed record WorkflowMeasuredView
{
    public required string Name { get; init; }

    /// <summary>Instances that have not ended, by state, of all hosts that share the store; a few seconds old.</summary>
    public required IReadOnlyDictionary<string, long> Living { get; init; }

    /// <summary>Instances that started on this host.</summary>
    public CountView? Started { get; init; }

    /// <summary>Instances that ended on this host, in any state.</summary>
    public CountView? Ended { get; init; }

    /// <summary>Instances that stopped for an operator on this host.</summary>
    public CountView? Stopped { get; init; }

    /// <summary>The time until a checkpoint is stored, with its wait for the group.</summary>
    public LatencyView? CheckpointDuration { get; init; }

    public static IReadOnlyList<WorkflowMeasuredView> All(MeasuredSet workflows, IReadOnlyList<LivingCount> living)
    {
        var measured = workflows.All.ToDictionary(workflow => workflow.Name);
        var counts = living.ToLookup(count => count.Workflow);
        return
        [
            .. measured
                .Keys.Union(counts.Select(group => group.Key))
                .Order(StringComparer.Ordinal)
                .Select(name => Of(name, measured.GetValueOrDefault(name), counts[name])),
        ];
    }

    /// <summary>The name of a state, as the API writes it.</summary>
    public static string NameOf(WorkflowState state) => JsonNamingPolicy.CamelCase.ConvertName(state.ToString());

    private static WorkflowMeasuredView Of(string name, Measured? measured, IEnumerable<LivingCount> living) =>
        new()
        {
            Name = name,
            Living = living.ToDictionary(count => NameOf(count.State), count => count.Count),
            Started = CountView.Of(measured?.Summarize(CounterKind.InstancesStarted)),
            Ended = CountView.Of(measured?.Summarize(CounterKind.InstancesEnded)),
            Stopped = CountView.Of(measured?.Summarize(CounterKind.InstancesStopped)),
            CheckpointDuration = LatencyView.Of(measured?.Summarize(LatencyKind.Checkpoint)),
        };
}
