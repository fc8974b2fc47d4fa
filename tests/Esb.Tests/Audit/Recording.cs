using System.Collections.Concurrent;
using System.Runtime.CompilerServices;
using Esb.Core.Audit;

namespace Esb.Tests.Audit;

/// <summary>A store that keeps facts in memory, and fails as a test tells it.</summary>
internal sealed class MemoryAuditStore(IAuditSpool? spool = null) : IAuditStore
{
    private readonly ConcurrentDictionary<Guid, AuditFact> _facts = new();

    public IAuditSpool? Spool => spool;

    public Func<IReadOnlyList<AuditFact>, Exception?> Failure { get; set; } = _ => null;

    public IEnumerable<AuditFact> Facts => _facts.Values.OrderBy(fact => fact.Id);

    public Task AppendAsync(IReadOnlyList<AuditFact> facts, CancellationToken cancellationToken)
    {
        if (Failure(facts) is { } failure)
            throw failure;
        foreach (var fact in facts)
            _facts.TryAdd(fact.Id, fact);
        return Task.CompletedTask;
    }

    public async IAsyncEnumerable<AuditFact> FindAsync(AuditQuery query, [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        foreach (var fact in Facts.Reverse().Where(fact => query.MessageId is null || fact.MessageId == query.MessageId))
            yield return fact;
        await Task.CompletedTask;
    }

    public Task<IReadOnlyList<AuditFact>> GetJourneyAsync(AuditJourneyQuery query, CancellationToken cancellationToken) =>
        Task.FromResult<IReadOnlyList<AuditFact>>([.. Facts.Where(fact => fact.MessageId == query.MessageId)]);
}

/// <summary>A trail that keeps facts in memory, and can be made to wait.</summary>
internal sealed class MemoryAuditTrail : IAuditTrail
{
    private int _working;

    public ConcurrentQueue<AuditFact> Facts { get; } = new();

    public Task Gate { get; set; } = Task.CompletedTask;

    public int Working => Volatile.Read(ref _working);

    public async ValueTask RecordAsync(AuditFact fact, CancellationToken cancellationToken)
    {
        Interlocked.Increment(ref _working);
        await Gate.WaitAsync(cancellationToken);
        Facts.Enqueue(fact);
        Interlocked.Decrement(ref _working);
    }
}
