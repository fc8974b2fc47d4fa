namespace Esb.Core.Workflows;

/// <summary>Instances that changed on this host, for those who watch. Thread-safe; memory is bounded.</summary>
public interface IWorkflowChanges
{
    /// <summary>Returns what changed since the call before, and forgets it. Of an instance that changed several times, the last state
    /// counts.</summary>
    IReadOnlyList<WorkflowChanges> Take();
}

/// <summary>Instances of a workflow that changed.</summary>
/// <param name="Workflow">The workflow.</param>
/// <param name="Instances">Instances, in the order in which they changed first.</param>
/// <param name="Further">The number of changes of instances that are not listed.</param>
public sealed record WorkflowChanges(string Workflow, IReadOnlyList<WorkflowChange> Instances, long Further);

/// <summary>The state of an instance after a checkpoint.</summary>
/// <param name="Id">The instance.</param>
/// <param name="State">Its state.</param>
/// <param name="Step">The steps at which it stands, separated by commas; empty after its end.</param>
/// <param name="Version">The number of the checkpoint; 1 for an instance that started.</param>
public sealed record WorkflowChange(Guid Id, WorkflowState State, string Step, int Version);
