namespace Esb.Core.Audit;

/// <summary>Keeps audit facts and finds them again. Thread-safe.</summary>
public interface IAuditStore
{
    /// <summary>Keeps facts, all or none; durable when it returns. A fact that is there already is kept once.</summary>
    Task AppendAsync(IReadOnlyList<AuditFact> facts, CancellationToken cancellationToken);

    /// <summary>The facts that a query asks for, newest first.</summary>
    IAsyncEnumerable<AuditFact> FindAsync(AuditQuery query, CancellationToken cancellationToken);

    /// <summary>Every fact of a message and of the others of its conversation, oldest first; none where the id is unknown.</summary>
    Task<IReadOnlyList<AuditFact>> GetJourneyAsync(Guid messageId, CancellationToken cancellationToken);
}

/// <summary>What to look for; everything that is given must hold.</summary>
public sealed record AuditQuery
{
    /// <summary>Fields that the fact must have, with these values.</summary>
    public IReadOnlyDictionary<string, string> Where { get; init; } = new Dictionary<string, string>();

    /// <summary>The endpoint.</summary>
    public string? Endpoint { get; init; }

    /// <summary>What happened.</summary>
    public AuditKind? Kind { get; init; }

    /// <summary>Not before.</summary>
    public DateTimeOffset? From { get; init; }

    /// <summary>Before.</summary>
    public DateTimeOffset? To { get; init; }

    /// <summary>Facts older than this one: the key of the next page.</summary>
    public Guid? Before { get; init; }

    /// <summary>How many at most, from 1 to 1,000.</summary>
    public int Limit { get; init; } = 100;
}
