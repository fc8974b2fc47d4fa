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

    /// <summary>Moves the living instances of a workflow to one of its definitions; none if one of them could not be moved.</summary>
    /// <param name="workflow">The workflow.</param>
    /// <param name="to">The hash of the definition, or its beginning; null for the one that starts instances.</param>
    /// <param name="isDryRun">True to tell only what would be moved.</param>
    /// <param name="decision">The operator and the reason.</param>
    /// <param name="cancellationToken">Cancels between two instances.</param>
    /// <exception cref="Errors.EsbException"><c>ESB-WFL-UNKNOWN</c>, <c>ESB-WFL-STRANDED</c>.</exception>
    Task<WorkflowMigration> MigrateAsync(
        string workflow,
        string? to,
        bool isDryRun,
        OperatorDecision decision,
        CancellationToken cancellationToken
    );
}

/// <summary>Instances that move to another definition of their workflow.</summary>
/// <param name="Workflow">The workflow.</param>
/// <param name="To">Hash of the definition.</param>
/// <param name="Movable">Living instances of other definitions whose place has a counterpart.</param>
/// <param name="Moved">How many were moved; 0 of a dry run.</param>
/// <param name="Obstacles">Why others cannot be, most frequent first, 20 at most.</param>
public sealed record WorkflowMigration(string Workflow, string To, long Movable, long Moved, IReadOnlyList<MigrationObstacle> Obstacles);

/// <summary>Why instances cannot move.</summary>
/// <param name="From">Hash of their definition.</param>
/// <param name="Instances">Their number.</param>
/// <param name="Reason">Why.</param>
public sealed record MigrationObstacle(string From, long Instances, string Reason);

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
