using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Workflows;

namespace Esb.Tests.Workflows.Instances;

/// <summary>A store behind which the process ends at a commit: before it, or after it and before anybody hears of it.</summary>
internal sealed class FailingWorkflowStore(IWorkflowStore store) : IWorkflowStore
{
    private volatile bool _isDead;
    private int _commits;

    /// <summary>The commit at which the process ends, from 1; 0 for none.</summary>
    public int DiesAt { get; set; }

    /// <summary>True if that commit is stored all the same.</summary>
    public bool DiesAfter { get; set; }

    public int Commits => Volatile.Read(ref _commits);

    public bool IsDead => _isDead;

    public void Die() => _isDead = true;

    public async Task<IReadOnlyList<CommitResult>> CommitAsync(IReadOnlyList<WorkflowCommit> commits, CancellationToken cancellationToken)
    {
        Check();
        var dies = Interlocked.Increment(ref _commits) == DiesAt;
        if (dies && !DiesAfter)
            _isDead = true;
        Check();
        var results = await store.CommitAsync(commits, cancellationToken);
        if (dies)
            _isDead = true;
        Check();
        return results;
    }

    public Task<WorkflowTakers> FindTakersAsync(
        string workflow,
        Guid message,
        IReadOnlyList<string> waits,
        IReadOnlyList<string> keys,
        CancellationToken cancellationToken
    ) => Alive().FindTakersAsync(workflow, message, waits, keys, cancellationToken);

    public Task<WorkflowInstance?> FindAsync(Guid id, CancellationToken cancellationToken) => Alive().FindAsync(id, cancellationToken);

    public Task<EarlyMessage?> FindEarlyAsync(string workflow, Guid message, CancellationToken cancellationToken) =>
        Alive().FindEarlyAsync(workflow, message, cancellationToken);

    public Task<IReadOnlyList<(string Workflow, Guid Message)>> FindMatchedAsync(int limit, CancellationToken cancellationToken) =>
        Alive().FindMatchedAsync(limit, cancellationToken);

    public Task<IReadOnlyList<WorkflowEvent>> HistoryAsync(Guid id, int after, int limit, CancellationToken cancellationToken) =>
        Alive().HistoryAsync(id, after, limit, cancellationToken);

    public Task<IReadOnlyList<WorkflowInstance>> ListAsync(WorkflowQuery query, CancellationToken cancellationToken) =>
        Alive().ListAsync(query, cancellationToken);

    public Task<IReadOnlyList<WorkflowCount>> CountAsync(CancellationToken cancellationToken) => Alive().CountAsync(cancellationToken);

    public Task<IReadOnlyList<LivingCount>> LivingAsync(CancellationToken cancellationToken) => Alive().LivingAsync(cancellationToken);

    public Task SumUpAsync(bool recount, CancellationToken cancellationToken) => Alive().SumUpAsync(recount, cancellationToken);

    public Task<IReadOnlyDictionary<string, long>> CountByDefinitionAsync(CancellationToken cancellationToken) =>
        Alive().CountByDefinitionAsync(cancellationToken);

    public Task<int> CountLivingAsync(string workflow, int most, CancellationToken cancellationToken) =>
        Alive().CountLivingAsync(workflow, most, cancellationToken);

    public Task<IReadOnlyList<Guid>> FindHeldStartsAsync(string workflow, string wait, int limit, CancellationToken cancellationToken) =>
        Alive().FindHeldStartsAsync(workflow, wait, limit, cancellationToken);

    public Task<IReadOnlyList<Guid>> ChildrenAsync(Guid parent, CancellationToken cancellationToken) =>
        Alive().ChildrenAsync(parent, cancellationToken);

    public Task KeepDefinitionAsync(StoredDefinition definition, CancellationToken cancellationToken) =>
        Alive().KeepDefinitionAsync(definition, cancellationToken);

    public Task<StoredDefinition?> FindDefinitionAsync(string hash, CancellationToken cancellationToken) =>
        Alive().FindDefinitionAsync(hash, cancellationToken);

    public Task<IReadOnlyList<StoredDefinition>> UsedDefinitionsAsync(
        TimeSpan within,
        IReadOnlyCollection<string> known,
        CancellationToken cancellationToken
    ) => Alive().UsedDefinitionsAsync(within, known, cancellationToken);

    public Task<IReadOnlyList<StoredDefinition>> LiveDefinitionsAsync(CancellationToken cancellationToken) =>
        Alive().LiveDefinitionsAsync(cancellationToken);

    public Task<long> RemoveOldAsync(
        IReadOnlyDictionary<string, TimeSpan> retentions,
        TimeSpan otherwise,
        CancellationToken cancellationToken
    ) => Alive().RemoveOldAsync(retentions, otherwise, cancellationToken);

    private IWorkflowStore Alive()
    {
        Check();
        return store;
    }

    private void Check()
    {
        if (_isDead)
            throw new EsbException("ESB-STORE-AWAY", "The process has ended.", FaultKind.Unavailable);
    }
}
