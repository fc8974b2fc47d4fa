using Esb.Core.Messages;

namespace Esb.Core.Workflows;

/// <summary>Stores instances of workflows. The version of an instance is the truth: of two changes of the same version one wins.
/// Thread-safe.</summary>
public interface IWorkflowStore
{
    /// <summary>Stores checkpoints in one transaction; durable when it returns. One that cannot be stored does not affect the
    /// others.</summary>
    /// <param name="commits">Checkpoints of different instances.</param>
    /// <param name="cancellationToken">Checked before the transaction begins.</param>
    /// <returns>A result for each, in their order.</returns>
    /// <exception cref="Errors.EsbException">None is stored, or it is unknown whether they are: <c>ESB-STORE-AWAY</c>,
    /// <c>ESB-STORE-WRITE</c>.</exception>
    Task<IReadOnlyList<CommitResult>> CommitAsync(IReadOnlyList<WorkflowCommit> commits, CancellationToken cancellationToken);

    /// <summary>Finds who takes a message.</summary>
    /// <param name="workflow">The workflow.</param>
    /// <param name="message">The message.</param>
    /// <param name="waits">Hashes of the waits that would take it.</param>
    /// <param name="keys">Hashes of its business keys.</param>
    /// <param name="cancellationToken">Cancels the query.</param>
    Task<WorkflowTakers> FindTakersAsync(
        string workflow,
        Guid message,
        IReadOnlyList<string> waits,
        IReadOnlyList<string> keys,
        CancellationToken cancellationToken
    );

    /// <summary>Returns an instance; null if it does not exist.</summary>
    Task<WorkflowInstance?> FindAsync(Guid id, CancellationToken cancellationToken);

    /// <summary>Returns an early message; null if it is gone.</summary>
    Task<EarlyMessage?> FindEarlyAsync(string workflow, Guid message, CancellationToken cancellationToken);

    /// <summary>Returns early messages for which an instance waits, and those that can start an instance: normally they were taken
    /// at once.</summary>
    Task<IReadOnlyList<(string Workflow, Guid Message)>> FindMatchedAsync(int limit, CancellationToken cancellationToken);

    /// <summary>Returns the history of an instance, oldest first.</summary>
    Task<IReadOnlyList<WorkflowEvent>> HistoryAsync(Guid id, int after, int limit, CancellationToken cancellationToken);

    /// <summary>Lists instances, newest first.</summary>
    Task<IReadOnlyList<WorkflowInstance>> ListAsync(WorkflowQuery query, CancellationToken cancellationToken);

    /// <summary>Counts the instances that have not ended, by workflow, definition, state and step.</summary>
    Task<IReadOnlyList<WorkflowCount>> CountAsync(CancellationToken cancellationToken);

    /// <summary>Counts the instances that have not ended, by workflow and state: from sums that every checkpoint keeps up, so that the
    /// number of instances does not matter.</summary>
    Task<IReadOnlyList<LivingCount>> LivingAsync(CancellationToken cancellationToken);

    /// <summary>Sums up what checkpoints have added to those sums. Hosts may call it at the same time.</summary>
    /// <param name="recount">True to count the instances and correct the sums, which a host of an earlier release does not keep up.</param>
    /// <param name="cancellationToken">Cancels the operation.</param>
    Task SumUpAsync(bool recount, CancellationToken cancellationToken);

    /// <summary>Counts the instances that have not ended, by the hash of their definition.</summary>
    Task<IReadOnlyDictionary<string, long>> CountByDefinitionAsync(CancellationToken cancellationToken);

    /// <summary>Counts the instances of a workflow that have not ended, up to a number.</summary>
    Task<int> CountLivingAsync(string workflow, int most, CancellationToken cancellationToken);

    /// <summary>Returns early messages of a workflow with a wait of this hash, oldest first.</summary>
    Task<IReadOnlyList<Guid>> FindHeldStartsAsync(string workflow, string wait, int limit, CancellationToken cancellationToken);

    /// <summary>Returns the children that an instance runs and waits for, and that have not ended.</summary>
    Task<IReadOnlyList<Guid>> ChildrenAsync(Guid parent, CancellationToken cancellationToken);

    /// <summary>Keeps a definition, and notes that a host starts instances with it.</summary>
    Task KeepDefinitionAsync(StoredDefinition definition, CancellationToken cancellationToken);

    /// <summary>Returns a kept definition; null if it does not exist.</summary>
    Task<StoredDefinition?> FindDefinitionAsync(string hash, CancellationToken cancellationToken);

    /// <summary>Returns the definitions with which hosts start instances.</summary>
    /// <param name="within">The time within which a host has said so.</param>
    /// <param name="known">Hashes of definitions that are left out.</param>
    /// <param name="cancellationToken">Cancels the query.</param>
    Task<IReadOnlyList<StoredDefinition>> UsedDefinitionsAsync(
        TimeSpan within,
        IReadOnlyCollection<string> known,
        CancellationToken cancellationToken
    );

    /// <summary>Returns the definitions of instances that have not ended.</summary>
    Task<IReadOnlyList<StoredDefinition>> LiveDefinitionsAsync(CancellationToken cancellationToken);

    /// <summary>Deletes instances that ended before their retention, with their history, the ids of messages older than 7 days, and
    /// definitions that nothing has needed for as long as the longest retention and 7 days.</summary>
    /// <param name="retentions">How long ended instances are kept, by workflow.</param>
    /// <param name="otherwise">How long those of any other workflow are kept: the configuration has it no more.</param>
    /// <param name="cancellationToken">Cancels the operation; what is deleted stays deleted.</param>
    /// <returns>The number of instances that were deleted.</returns>
    Task<long> RemoveOldAsync(IReadOnlyDictionary<string, TimeSpan> retentions, TimeSpan otherwise, CancellationToken cancellationToken);
}

/// <summary>Who takes a message.</summary>
/// <param name="IsKnown">True if the message had its effect already.</param>
/// <param name="Waiting">The instance that waits longest, and the number of its wait; null if none waits.</param>
/// <param name="Living">Instances with its keys that have not ended.</param>
public sealed record WorkflowTakers(bool IsKnown, (Guid Instance, int Wait)? Waiting, IReadOnlyList<Guid> Living);

/// <summary>A filter for instances.</summary>
public sealed record WorkflowQuery
{
    /// <summary>The workflow; null for any.</summary>
    public string? Workflow { get; init; }

    /// <summary>The states; empty for any.</summary>
    public IReadOnlyList<WorkflowState> States { get; init; } = [];

    /// <summary>A step at which they stand; null for any.</summary>
    public string? Step { get; init; }

    /// <summary>Hashes of business keys, of which one is enough; empty for any.</summary>
    public IReadOnlyList<string> Keys { get; init; } = [];

    /// <summary>Code of the failure; null for any.</summary>
    public string? Code { get; init; }

    /// <summary>Only those that started before; null for any.</summary>
    public DateTimeOffset? Before { get; init; }

    /// <summary>Only those that follow this one; null from the beginning.</summary>
    public Guid? After { get; init; }

    /// <summary>At most this many.</summary>
    public int Limit { get; init; } = 50;
}

/// <summary>The number of instances in a state that is no end.</summary>
/// <param name="Workflow">The workflow.</param>
/// <param name="State">The state.</param>
/// <param name="Count">Their number.</param>
public sealed record LivingCount(string Workflow, WorkflowState State, long Count);

/// <summary>The number of instances in a state.</summary>
/// <param name="Workflow">The workflow.</param>
/// <param name="Definition">Hash of the definition.</param>
/// <param name="State">The state.</param>
/// <param name="Step">The step at which they stand.</param>
/// <param name="Count">Their number.</param>
public sealed record WorkflowCount(string Workflow, string Definition, WorkflowState State, string Step, long Count);

/// <summary>A definition as instances need it.</summary>
/// <param name="Hash">Hash of the content.</param>
/// <param name="Workflow">The workflow.</param>
/// <param name="Content">JSON: the workflow and what it pins.</param>
public sealed record StoredDefinition(string Hash, string Workflow, string Content);
