using System.Diagnostics.Metrics;
using Esb.Core.Configuration;
using Esb.Core.Diagnostics;
using Esb.Core.Errors;
using Esb.Core.Workflows;
using Esb.Workflows.Workflows.Compiling;
using Microsoft.Extensions.Logging;

namespace Esb.Workflows.Workflows.Running;

/// <summary>Keeps the counts of living instances up, for metrics: reads a few sums, never the instances. Thread-safe.</summary>
internal sealed partial class InstanceCounts(
    IWorkflowStore store,
    Live<WorkflowModels> models,
    TimeProvider time,
    ILogger<InstanceCounts> logger
) : IWorkflowCounts, IAsyncDisposable
{
    private static readonly TimeSpan Interval = TimeSpan.FromSeconds(5);

    // Hosts of an earlier release, during an upgrade, do not keep the sums up.
    private static readonly TimeSpan RecountInterval = TimeSpan.FromHours(1);

    // Those that an alert compares, also while there are none.
    private static readonly WorkflowState[] Usual = [WorkflowState.Running, WorkflowState.Waiting, WorkflowState.Suspended];

    private readonly CancellationTokenSource _stopping = new();
    private volatile IReadOnlyList<LivingCount> _living = [];
    private Meter? _meter; // per host: gauges keep references to their sources
    private Task _counting = Task.CompletedTask;

    public IReadOnlyList<LivingCount> Living => _living;

    public void Start()
    {
        _meter = new Meter("Esb.Workflows");
        _meter.ObservableGauge(EsbTelemetry.Metrics.WorkflowInstances, () => _living.Select(Measure));
        _counting = Task.Run(CountAsync);
    }

    public async ValueTask DisposeAsync()
    {
        await _stopping.CancelAsync();
        await _counting;
        _meter?.Dispose();
    }

    private static Measurement<long> Measure(LivingCount count) =>
        new(
            count.Count,
            new KeyValuePair<string, object?>(EsbTelemetry.Tags.Workflow, count.Workflow),
            new KeyValuePair<string, object?>(EsbTelemetry.Tags.State, count.State.ToString())
        );

    private async Task CountAsync()
    {
        long? recountedAt = null;
        while (!_stopping.IsCancellationRequested)
        {
            try
            {
                var isDue = recountedAt is not { } last || time.GetElapsedTime(last) >= RecountInterval;
                await store.SumUpAsync(isDue, _stopping.Token);
                if (isDue)
                    recountedAt = time.GetTimestamp();
                _living = Complete(await store.LivingAsync(_stopping.Token));
            }
            catch (Exception ex) when (ex is EsbException or OperationCanceledException)
            {
                if (!_stopping.IsCancellationRequested)
                    LogNotCounted(ex.Message); // the last counts remain
            }

            await Task.Delay(Interval, time, _stopping.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }
    }

    private List<LivingCount> Complete(IReadOnlyList<LivingCount> counts)
    {
        var known = counts.Select(count => (count.Workflow, count.State)).ToHashSet();
        var none =
            from model in models.Current.All
            from state in Usual
            where !known.Contains((model.Name, state))
            select new LivingCount(model.Name, state, 0);
        return [.. counts.Concat(none).OrderBy(count => count.Workflow, StringComparer.Ordinal).ThenBy(count => count.State)];
    }

    [LoggerMessage(EventId = 3038, Level = LogLevel.Debug, Message = "Instances of workflows could not be counted: {Reason}")]
    private partial void LogNotCounted(string reason);
}
