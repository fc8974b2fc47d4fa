using Esb.Core.Audit;
using Esb.Core.Messages;

namespace Esb.Tests.Fakes;

/// <summary>Keeps audit facts in memory, or fails to.</summary>
internal sealed class AuditLog : IAuditTrail
{
    private readonly List<AuditFact> _facts = [];
    private readonly Dictionary<Guid, EsbMessage> _contents = [];

    public Exception? Failure { get; set; }

    /// <summary>Whether each fact has to be durable before the next action.</summary>
    public bool IsFlushedFirst { get; set; }

    /// <summary>How many facts were recorded together, and how durably, in order.</summary>
    public List<(int Facts, AuditDurability Durability)> Groups { get; } = [];

    public bool RecordsFirst(string endpoint) => IsFlushedFirst;

    public IMessageMask Mask { get; set; } = NoMask.Instance;

    public IReadOnlyList<AuditFact> Facts
    {
        get
        {
            lock (_facts)
                return [.. _facts];
        }
    }

    /// <summary>The message that was recorded with a fact.</summary>
    public EsbMessage ContentOf(AuditFact fact)
    {
        lock (_facts)
            return _contents[fact.Id];
    }

    public IEnumerable<AuditKind> Kinds => Facts.Select(fact => fact.Kind);

    public ValueTask RecordAsync(AuditFact fact, CancellationToken cancellationToken)
    {
        if (Failure is not null)
            return ValueTask.FromException(Failure);
        lock (_facts)
            _facts.Add(fact);
        return ValueTask.CompletedTask;
    }

    public async ValueTask RecordAsync(IReadOnlyList<AuditRecord> records, AuditDurability durability, CancellationToken cancellationToken)
    {
        lock (_facts)
            Groups.Add((records.Count, durability));
        foreach (var (fact, content) in records)
        {
            if (content is null)
                await RecordAsync(fact, cancellationToken);
            else
                await RecordAsync(fact, content, cancellationToken);
        }
    }

    public ValueTask RecordAsync(AuditFact fact, EsbMessage content, CancellationToken cancellationToken)
    {
        lock (_facts)
            _contents[fact.Id] = content;
        return RecordAsync(fact, cancellationToken);
    }
}
