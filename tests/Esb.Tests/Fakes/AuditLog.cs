using Esb.Core.Audit;
using Esb.Core.Messages;

namespace Esb.Tests.Fakes;

/// <summary>Keeps audit facts in memory, or fails to.</summary>
internal sealed class AuditLog : IAuditTrail
{
    private readonly List<AuditFact> _facts = [];

    public Exception? Failure { get; set; }

    public IReadOnlyList<AuditFact> Facts
    {
        get
        {
            lock (_facts) return [.. _facts];
        }
    }

    public IEnumerable<AuditKind> Kinds => Facts.Select(fact => fact.Kind);

    public AuditBodies Wants(AuditKind kind, string endpoint) => AuditBodies.None;

    public ValueTask RecordAsync(AuditFact fact, EsbMessage content, CancellationToken cancellationToken) => RecordAsync(fact, cancellationToken);

    public ValueTask RecordAsync(AuditFact fact, CancellationToken cancellationToken)
    {
        if (Failure is not null) return ValueTask.FromException(Failure);
        lock (_facts) _facts.Add(fact);
        return ValueTask.CompletedTask;
    }
}
