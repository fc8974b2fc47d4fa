namespace Esb.Core.Audit;

/// <summary>Stores audit facts and queries them. Thread-safe.</summary>
public interface IAuditStore : IAuditWriter
{
    /// <summary>Facts that match a query, newest first: by their ids.</summary>
    IAsyncEnumerable<AuditFact> FindAsync(AuditQuery query, CancellationToken cancellationToken);

    /// <summary>Facts of a message and of the others of its conversation, oldest first, with bodies up to the limit; empty if the id is
    /// unknown.</summary>
    Task<IReadOnlyList<AuditFact>> GetJourneyAsync(AuditJourneyQuery query, CancellationToken cancellationToken);
}

/// <summary>Filter for facts; all given conditions must hold.</summary>
public sealed record AuditQuery
{
    /// <summary>Fields that the fact must have, with their values.</summary>
    public IReadOnlyDictionary<string, string> Where { get; init; } = new Dictionary<string, string>();

    /// <summary>The message.</summary>
    public Guid? MessageId { get; init; }

    /// <summary>The endpoint.</summary>
    public string? Endpoint { get; init; }

    /// <summary>The process.</summary>
    public string? Process { get; init; }

    /// <summary>The party that sent it.</summary>
    public string? Party { get; init; }

    /// <summary>The trace, 32 hexadecimal digits.</summary>
    public string? TraceId { get; init; }

    /// <summary>Kind of the event.</summary>
    public AuditKind? Kind { get; init; }

    /// <summary>Failures only: rejected messages, failed attempts, dead-lettered and discarded messages. Has no effect beside a
    /// <see cref="Kind"/>.</summary>
    public bool OnlyFailures { get; init; }

    /// <summary>Earliest time, inclusive.</summary>
    public DateTimeOffset? From { get; init; }

    /// <summary>Latest time, exclusive.</summary>
    public DateTimeOffset? To { get; init; }

    /// <summary>Facts older than this one: the key of the next page.</summary>
    public Guid? Before { get; init; }

    /// <summary>Maximum number of facts, from 1 to 1,000.</summary>
    public int Limit { get; init; } = 100;

    /// <summary>True if bodies are wanted; a store may omit them otherwise.</summary>
    public bool WithBodies { get; init; } = true;

    /// <summary>Kinds of facts that <see cref="OnlyFailures"/> selects.</summary>
    public static IReadOnlyList<AuditKind> Failures { get; } =
    [AuditKind.Refused, AuditKind.Failed, AuditKind.DeadLettered, AuditKind.Discarded];
}
