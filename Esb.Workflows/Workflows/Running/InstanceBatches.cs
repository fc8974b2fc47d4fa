using System.Collections.Concurrent;
using Esb.Core;
using Esb.Core.Errors;
using Esb.Core.Workflows;
using Microsoft.Extensions.Logging;

namespace Esb.Workflows.Workflows.Running;

/// <inheritdoc cref="IWorkflowBatches"/>
internal sealed partial class InstanceBatches(
    IWorkflowStore store,
    IWorkflowControl control,
    TimeProvider time,
    ILogger<InstanceBatches> logger
) : IWorkflowBatches, IBusPart, IDisposable
{
    private const int Page = 200;
    private const int MostRunning = 4;
    private const int MostKept = 50;
    private const int EnoughToJudge = 10;

    private readonly ConcurrentDictionary<Guid, RunningBatch> _batches = new();
    private readonly CancellationTokenSource _stopping = new();

    public BusStage Stage => BusStage.Outbound;

    public IReadOnlyList<WorkflowBatch> All =>
        [.. _batches.Values.Select(batch => batch.Current).OrderByDescending(batch => batch.StartedAt)];

    public Task StartAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public async Task StopAsync(CancellationToken cancellationToken)
    {
        await _stopping.CancelAsync();
        await Task.WhenAll(_batches.Values.Select(batch => batch.Running));
    }

    public async Task<IReadOnlyList<WorkflowBatchGroup>> PreviewAsync(WorkflowBatchOrder order, CancellationToken cancellationToken)
    {
        var groups = new Dictionary<WorkflowBatchGroup, long>();
        await foreach (var instance in FindAsync(order, cancellationToken))
        {
            var group = new WorkflowBatchGroup(instance.Workflow, instance.State, instance.Step, instance.Code, 0);
            groups[group] = groups.GetValueOrDefault(group) + 1;
        }

        return [.. groups.Select(group => group.Key with { Instances = group.Value }).OrderByDescending(group => group.Instances)];
    }

    public WorkflowBatch Begin(WorkflowBatchOrder order)
    {
        Check(order);
        if (_batches.Values.Count(batch => batch.Current.State == WorkflowBatchState.Running) >= MostRunning)
            throw new EsbException("ESB-WFL-ACTION", $"{MostRunning} batches run on this host already.", FaultKind.Unavailable)
            {
                Status = 409,
            };
        foreach (var old in All.Where(batch => batch.State != WorkflowBatchState.Running).Skip(MostKept))
            _batches.TryRemove(old.Id, out _);
        var id = Guid.CreateVersion7(time.GetUtcNow());
        var batch = new RunningBatch(
            new WorkflowBatch(id, order.Action, WorkflowBatchState.Running, 0, 0, null, time.GetUtcNow()),
            _stopping.Token
        );
        _batches[id] = batch;
        batch.Running = Task.Run(() => RunAsync(batch, order));
        return batch.Current;
    }

    public WorkflowBatch? Stop(Guid id)
    {
        if (!_batches.TryGetValue(id, out var batch))
            return null;
        batch.Stopping.Cancel();
        return batch.Current;
    }

    public void Dispose()
    {
        foreach (var batch in _batches.Values)
            batch.Stopping.Dispose();
        _stopping.Dispose();
    }

    private static WorkflowState[] StatesFor(WorkflowAction action) =>
        action switch
        {
            WorkflowAction.Retry or WorkflowAction.Skip => [WorkflowState.Suspended, WorkflowState.CompensationFailed],
            WorkflowAction.Fire => [WorkflowState.Waiting, WorkflowState.Compensating],
            _ => [.. Enum.GetValues<WorkflowState>().Where(state => !WorkflowInstance.HasEnded(state))],
        };

    private static void Check(WorkflowBatchOrder order)
    {
        var states = StatesFor(order.Action);
        if (order.Filter.States.All(states.Contains))
            return;
        var (action, possible) = (order.Action.ToString().ToLowerInvariant(), string.Join(", ", states).ToLowerInvariant());
        throw new EsbException("ESB-WFL-ACTION", $"The action {action} is for instances that are {possible}.", FaultKind.Invalid);
    }

    private async IAsyncEnumerable<WorkflowInstance> FindAsync(
        WorkflowBatchOrder order,
        [System.Runtime.CompilerServices.EnumeratorCancellation] CancellationToken cancellationToken
    )
    {
        Check(order);
        var query = order.Filter with
        {
            States = order.Filter.States.Count > 0 ? order.Filter.States : StatesFor(order.Action),
            Limit = Page,
        };
        while (await store.ListAsync(query, cancellationToken) is { Count: > 0 } page)
        {
            foreach (var instance in page)
                yield return instance;
            query = query with { After = page[^1].Id }; // each once: what stops again is not met a second time
        }
    }

    private async Task RunAsync(RunningBatch batch, WorkflowBatchOrder order)
    {
        var token = batch.Stopping.Token;
        try
        {
            var began = time.GetTimestamp();
            await foreach (var instance in FindAsync(order, token))
            {
                await PaceAsync(batch.Current, order.Rate, began, token);
                var isDone = await TryActAsync(instance.Id, order, token);
                batch.Count(isDone);
                var (done, failed) = (batch.Current.Done, batch.Current.Failed);
                if (order.StopAt is { } share && done + failed >= EnoughToJudge && failed >= share * (done + failed))
                {
                    batch.End(WorkflowBatchState.Stopped, $"{failed} of {done + failed} instances failed");
                    return;
                }
            }

            batch.End(WorkflowBatchState.Done, reason: null);
        }
        catch (OperationCanceledException) when (token.IsCancellationRequested)
        {
            batch.End(WorkflowBatchState.Stopped, _stopping.IsCancellationRequested ? "the host stopped" : "an operator stopped it");
        }
        catch (Exception ex)
        {
            batch.End(WorkflowBatchState.Stopped, ex is EsbException ? ex.Message : ex.GetType().Name);
            LogStopped(batch.Current.Id, order.Action, ex);
        }
    }

    // An instance that stops again at once counts as a failure: what was to help does not.
    private async Task<bool> TryActAsync(Guid id, WorkflowBatchOrder order, CancellationToken cancellationToken)
    {
        try
        {
            var after = order.Action switch
            {
                WorkflowAction.Terminate => await control.TerminateAsync(id, order.Compensate, order.Decision, cancellationToken),
                WorkflowAction.Fire => await control.FireAsync(id, order.Decision, cancellationToken),
                _ => await control.RetryAsync(id, order.Action == WorkflowAction.Skip, order.Decision, cancellationToken),
            };
            return after.State is not (WorkflowState.Suspended or WorkflowState.CompensationFailed);
        }
        catch (EsbException ex) when (!ex.IsTransient)
        {
            LogNotDone(id, order.Action, ex.Message);
            return false;
        }
    }

    private Task PaceAsync(WorkflowBatch so, double? rate, long began, CancellationToken cancellationToken)
    {
        if (rate is not { } most)
            return Task.CompletedTask;
        var due = TimeSpan.FromSeconds((so.Done + so.Failed) / most);
        var early = due - time.GetElapsedTime(began);
        return early > TimeSpan.Zero ? Task.Delay(early, time, cancellationToken) : Task.CompletedTask;
    }

    [LoggerMessage(EventId = 3036, Level = LogLevel.Information, Message = "{Action} of instance {Instance} was not possible: {Reason}")]
    private partial void LogNotDone(Guid instance, WorkflowAction action, string reason);

    [LoggerMessage(EventId = 3037, Level = LogLevel.Warning, Message = "The batch {Batch} ({Action}) of workflow instances stopped")]
    private partial void LogStopped(Guid batch, WorkflowAction action, Exception exception);

    private sealed class RunningBatch(WorkflowBatch begun, CancellationToken stopping)
    {
        private volatile WorkflowBatch _current = begun;

        public WorkflowBatch Current => _current;

        public CancellationTokenSource Stopping { get; } = CancellationTokenSource.CreateLinkedTokenSource(stopping);

        public Task Running { get; set; } = Task.CompletedTask;

        public void Count(bool isDone) =>
            _current = isDone ? _current with { Done = _current.Done + 1 } : _current with { Failed = _current.Failed + 1 };

        public void End(WorkflowBatchState state, string? reason) => _current = _current with { State = state, Reason = reason };
    }
}
