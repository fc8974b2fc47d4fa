using System.Text.Json.Nodes;
using Esb.Core.Storage;

namespace Esb.Core.Workflows;

/// <summary>Operators' decisions about instances of workflows. Thread-safe.</summary>
public interface IWorkflowControl
{
    /// <summary>The workflows of the running revision, and earlier definitions with instances.</summary>
    IReadOnlyList<WorkflowDescription> Definitions { get; }

    /// <summary>Hashes of a business key, <c>name=value</c>, in all workflows or one.</summary>
    IReadOnlyList<string> HashesOf(string key, string? workflow);

    /// <summary>The variables of an instance, with its threads, as JSON.</summary>
    JsonNode DetailsOf(WorkflowInstance instance);

    /// <summary>Runs a suspended instance on.</summary>
    /// <param name="id">The instance.</param>
    /// <param name="skip">True to go on behind the step that failed.</param>
    /// <param name="decision">The operator and the reason.</param>
    /// <param name="cancellationToken">Cancels waiting.</param>
    /// <exception cref="Errors.EsbException"><c>ESB-WFL-GONE</c>, <c>ESB-WFL-ACTION</c>.</exception>
    Task<WorkflowInstance> RetryAsync(Guid id, bool skip, OperatorDecision decision, CancellationToken cancellationToken);

    /// <summary>Ends an instance, with the instances that it runs.</summary>
    /// <param name="id">The instance.</param>
    /// <param name="compensate">True to undo its completed scopes.</param>
    /// <param name="decision">The operator and the reason.</param>
    /// <param name="cancellationToken">Cancels waiting.</param>
    /// <exception cref="Errors.EsbException"><c>ESB-WFL-GONE</c>, <c>ESB-WFL-ACTION</c>.</exception>
    Task<WorkflowInstance> TerminateAsync(Guid id, bool compensate, OperatorDecision decision, CancellationToken cancellationToken);

    /// <summary>Ends the times for which an instance waits, as if they were over.</summary>
    /// <exception cref="Errors.EsbException"><c>ESB-WFL-GONE</c>, <c>ESB-WFL-ACTION</c>.</exception>
    Task<WorkflowInstance> FireAsync(Guid id, OperatorDecision decision, CancellationToken cancellationToken);

    /// <summary>Sets variables of an instance that does not run; null removes one.</summary>
    /// <exception cref="Errors.EsbException"><c>ESB-WFL-GONE</c>, <c>ESB-WFL-ACTION</c>.</exception>
    Task<WorkflowInstance> SetVariablesAsync(Guid id, JsonObject variables, OperatorDecision decision, CancellationToken cancellationToken);
}

/// <summary>A definition of a workflow.</summary>
/// <param name="Workflow">The workflow.</param>
/// <param name="Hash">Hash of the definition.</param>
/// <param name="IsCurrent">True if new instances begin with it.</param>
/// <param name="Description">Its steps, in brief.</param>
/// <param name="Places">Its steps in their order: place, kind, and the places that follow.</param>
public sealed record WorkflowDescription(
    string Workflow,
    string Hash,
    bool IsCurrent,
    string Description,
    IReadOnlyList<WorkflowPlace> Places
);

/// <summary>A step of a definition.</summary>
/// <param name="Place">Its id or path.</param>
/// <param name="Kind">Its kind.</param>
/// <param name="Next">The steps that may follow.</param>
public sealed record WorkflowPlace(string Place, string Kind, IReadOnlyList<string> Next);
