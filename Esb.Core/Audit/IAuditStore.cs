namespace Esb.Core.Audit;

/// <summary>Keeps audit facts and finds them again. Thread-safe.</summary>
public interface IAuditStore : IAuditWriter
{
    /// <summary>The facts that a query asks for, newest first: by their ids.</summary>
    IAsyncEnumerable<AuditFact> FindAsync(AuditQuery query, CancellationToken cancellationToken);

    /// <summary>The facts of a message and of the others of its conversation, oldest first, with bodies as far as there is room; none where the id is unknown.</summary>
    Task<IReadOnlyList<AuditFact>> GetJourneyAsync(AuditJourneyQuery query, CancellationToken cancellationToken);
}

/// <summary>What to look for; everything that is given must hold.</summary>
public sealed record AuditQuery
{
    /// <summary>Fields that the fact must have, with these values.</summary>
    public IReadOnlyDictionary<string, string> Where { get; init; } = new Dictionary<string, string>();

    /// <summary>The message.</summary>
    public Guid? MessageId { get; init; }

    /// <summary>The endpoint.</summary>
    public string? Endpoint { get; init; }

    /// <summary>The process.</summary>
    public string? Process { get; init; }

    /// <summary>Who sent it.</summary>
    public string? Party { get; init; }

    /// <summary>The trace, 32 hexadecimal digits.</summary>
    public string? TraceId { get; init; }

    /// <summary>What happened.</summary>
    public AuditKind? Kind { get; init; }

    /// <summary>Only what went wrong: messages that were refused, attempts that failed, and what was dead-lettered or discarded. Beside a <see cref="Kind"/> it says nothing.</summary>
    public bool OnlyFailures { get; init; }

    /// <summary>Not before.</summary>
    public DateTimeOffset? From { get; init; }

    /// <summary>Before.</summary>
    public DateTimeOffset? To { get; init; }

    /// <summary>Facts older than this one: the key of the next page.</summary>
    public Guid? Before { get; init; }

    /// <summary>How many at most, from 1 to 1,000.</summary>
    public int Limit { get; init; } = 100;

    /// <summary>Whether bodies are wanted too; a store may leave them out where they are not.</summary>
    public bool WithBodies { get; init; } = true;

    /// <summary>The kinds of facts that <see cref="OnlyFailures"/> asks for.</summary>
    public static IReadOnlyList<AuditKind> Failures { get; } = [AuditKind.Refused, AuditKind.Failed, AuditKind.DeadLettered, AuditKind.Discarded];
}
