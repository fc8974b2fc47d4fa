using Esb.Core.Errors;
using Esb.Core.Storage;

namespace Esb.Core.Workflows;

/// <summary>What an operator does with instances.</summary>
public enum WorkflowAction
{
    /// <summary>Runs suspended instances on from the step that failed.</summary>
    Retry,

    /// <summary>Runs suspended instances on behind the step that failed.</summary>
    Skip,

    /// <summary>Ends instances.</summary>
    Terminate,

    /// <summary>Ends the times for which instances wait.</summary>
    Fire,
}

/// <summary>An action on all instances that a filter finds.</summary>
/// <param name="Action">The action.</param>
/// <param name="Filter">The instances; its states, if any, are among those that the action is for.</param>
/// <param name="Decision">The operator and the reason.</param>
public sealed record WorkflowBatchOrder(WorkflowAction Action, WorkflowQuery Filter, OperatorDecision Decision)
{
    /// <summary>Of an end: whether completed scopes are undone.</summary>
    public bool Compensate { get; init; }

    /// <summary>Instances per second at most; null for no limit.</summary>
    public double? Rate { get; init; }

    /// <summary>The share of failures, from 0 to 1, at which it stops, from 10 instances on; null to go on in any case.</summary>
    public double? StopAt { get; init; }
}

/// <summary>State of a batch.</summary>
public enum WorkflowBatchState
{
    /// <summary>It goes on.</summary>
    Running,

    /// <summary>It has been through all instances.</summary>
    Done,

    /// <summary>It stopped before: an operator, too many failures, or the host stopped it, or the store was away.</summary>
    Stopped,
}

/// <summary>An action on many instances, as far as it has come. Immutable.</summary>
/// <param name="Id">Identifies it on its host.</param>
/// <param name="Action">The action.</param>
/// <param name="State">Its state.</param>
/// <param name="Done">Instances that the action changed.</param>
/// <param name="Failed">Instances that it could not change, or that stopped again at once.</param>
/// <param name="Reason">Why it stopped; null if it did not.</param>
/// <param name="StartedAt">When it began.</param>
public sealed record WorkflowBatch(
    Guid Id,
    WorkflowAction Action,
    WorkflowBatchState State,
    long Done,
    long Failed,
    string? Reason,
    DateTimeOffset StartedAt
);

/// <summary>Instances that a batch would change, by workflow, state, step and code of the failure.</summary>
public sealed record WorkflowBatchGroup(string Workflow, WorkflowState State, string Step, string? Code, long Instances);

/// <summary>Operators' actions on many instances of workflows. Thread-safe.</summary>
/// <remarks>A batch lives in the host that began it: where that ends, the same order finds what is left.</remarks>
public interface IWorkflowBatches
{
    /// <summary>The batches of this host that run, and the last ones that ended, newest first.</summary>
    IReadOnlyList<WorkflowBatch> All { get; }

    /// <summary>Counts what a batch would change; changes nothing.</summary>
    /// <exception cref="EsbException"><c>ESB-WFL-ACTION</c>: the filter asks for states that the action is not for. Or the store is
    /// away.</exception>
    Task<IReadOnlyList<WorkflowBatchGroup>> PreviewAsync(WorkflowBatchOrder order, CancellationToken cancellationToken);

    /// <summary>Begins a batch.</summary>
    /// <exception cref="EsbException"><c>ESB-WFL-ACTION</c>: as above; or as many batches run as may.</exception>
    WorkflowBatch Begin(WorkflowBatchOrder order);

    /// <summary>Stops a batch behind the current instance; does nothing if it has ended.</summary>
    /// <returns>It; null if there is none with this id.</returns>
    WorkflowBatch? Stop(Guid id);
}
