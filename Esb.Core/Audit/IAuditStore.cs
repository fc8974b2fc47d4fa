namespace Esb.Core.Audit;

/// <summary>Keeps audit facts and finds them again. Thread-safe.</summary>
public interface IAuditStore
{
    /// <summary>Where facts can wait on this machine while the store is away; null where the store is on this machine itself.</summary>
    IAuditSpool? Spool => null;

    /// <summary>What keeps <see cref="AppendAsync"/> from keeping facts now, in a few words and without secrets; null when nothing does.</summary>
    ValueTask<string?> CheckAsync(CancellationToken cancellationToken) => ValueTask.FromResult<string?>(null);

    /// <summary>Keeps facts, all or none; durable when it returns. A fact that is there already is kept once.</summary>
    /// <exception cref="Errors.EsbException"><c>ESB-AUD-WRITE</c>: they could not be kept. Where it is not transient the store refuses one of them, now and later.</exception>
    Task AppendAsync(IReadOnlyList<AuditFact> facts, CancellationToken cancellationToken);

    /// <summary>The facts that a query asks for, newest first: by their ids.</summary>
    IAsyncEnumerable<AuditFact> FindAsync(AuditQuery query, CancellationToken cancellationToken);

    /// <summary>Every fact of a message and of the others of its conversation, oldest first; none where the id is unknown.</summary>
    Task<IReadOnlyList<AuditFact>> GetJourneyAsync(Guid messageId, CancellationToken cancellationToken);

    /// <summary>As above, but the first of them only, and bodies only as far as there is room.</summary>
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
