namespace Esb.Core.Audit;

/// <summary>Holds audit facts on this machine until they are moved to a store that may be unreachable (pattern: Guaranteed
/// Delivery).</summary>
/// <remarks>Appending is thread-safe; one reader at a time peeks and forgets.</remarks>
public interface IAuditSpool
{
    /// <summary>Number of facts not yet forgotten.</summary>
    long Length { get; }

    /// <summary>Time of the oldest fact; null if the spool is empty, and before the first peek.</summary>
    DateTimeOffset? Oldest { get; }

    /// <summary>Bytes on disk, including facts that were moved but not deleted yet.</summary>
    long Bytes { get; }

    /// <summary>Upper limit of <see cref="Bytes"/>.</summary>
    long MaxBytes { get; }

    /// <summary>Appends a fact; durable when it returns. Concurrent calls share one flush.</summary>
    /// <exception cref="Errors.EsbException"><c>ESB-AUD-WRITE</c>: the write failed. <c>ESB-AUD-FULL</c>: no space is left.</exception>
    Task AppendAsync(AuditFact fact, CancellationToken cancellationToken);

    /// <summary>Appends the facts of one message as one record, all or none.</summary>
    /// <param name="facts">The facts.</param>
    /// <param name="durability">State of the record when the call returns. The reader sees it only once it is flushed.</param>
    /// <param name="cancellationToken">Cancels waiting.</param>
    /// <exception cref="Errors.EsbException"><c>ESB-AUD-WRITE</c>: the write failed. <c>ESB-AUD-FULL</c>: no space is left.</exception>
    Task AppendAsync(IReadOnlyList<AuditFact> facts, AuditDurability durability, CancellationToken cancellationToken);

    /// <summary>Returns once the spool holds a fact that has not been forgotten.</summary>
    Task WaitAsync(CancellationToken cancellationToken);

    /// <summary>Returns facts not yet forgotten, oldest first; waits until there are any. Empty for unreadable data, which is forgotten
    /// like facts.</summary>
    /// <param name="maximum">Maximum number of facts, at least 1; fewer are returned if their bodies are large.</param>
    /// <param name="cancellationToken">Cancels waiting.</param>
    Task<IReadOnlyList<AuditFact>> PeekAsync(int maximum, CancellationToken cancellationToken);

    /// <summary>Forgets the facts that the last peek returned. After a crash, some may be returned again.</summary>
    Task ForgetAsync(CancellationToken cancellationToken);

    /// <summary>Quarantines a fact that its store rejects, for inspection.</summary>
    Task QuarantineAsync(AuditFact fact, CancellationToken cancellationToken);
}

/// <summary>Values derived from the state of a spool.</summary>
public static class AuditSpoolAge
{
    /// <summary>Age of the oldest fact not yet forgotten; null if the spool is empty, and before the first peek. Never negative, even if
    /// the clock is set back.</summary>
    public static TimeSpan? AgeOfOldest(this IAuditSpool spool, TimeProvider time) =>
        spool.Oldest is { } oldest ? TimeSpan.FromTicks(Math.Max(0, (time.GetUtcNow() - oldest).Ticks)) : null;
}
