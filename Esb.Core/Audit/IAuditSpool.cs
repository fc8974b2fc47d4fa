namespace Esb.Core.Audit;

/// <summary>Holds audit facts on this machine until they have been moved to a store that may be away (pattern: Guaranteed Delivery).</summary>
/// <remarks>Appending is thread-safe; one reader at a time looks and forgets.</remarks>
public interface IAuditSpool
{
    /// <summary>How many facts have not been forgotten yet.</summary>
    long Length { get; }

    /// <summary>When the oldest of them happened; null where none waits, and until somebody has looked.</summary>
    DateTimeOffset? Oldest { get; }

    /// <summary>The bytes that they take of the disk, and those that were moved and not deleted yet.</summary>
    long Bytes { get; }

    /// <summary>The most that <see cref="Bytes"/> may become.</summary>
    long MaxBytes { get; }

    /// <summary>Keeps a fact; durable when it returns. Calls at the same time share one flush.</summary>
    /// <exception cref="Errors.EsbException"><c>ESB-AUD-WRITE</c>: it could not be written. <c>ESB-AUD-FULL</c>: there is no room.</exception>
    Task AppendAsync(AuditFact fact, CancellationToken cancellationToken);

    /// <summary>Returns once there is a fact that has not been forgotten.</summary>
    Task WaitAsync(CancellationToken cancellationToken);

    /// <summary>The oldest facts that have not been forgotten, oldest first; waits while there are none. Empty where what is there cannot be read: that is forgotten like facts.</summary>
    /// <param name="maximum">How many at most, from 1; fewer where their bodies are large.</param>
    /// <param name="cancellationToken">Stops waiting.</param>
    Task<IReadOnlyList<AuditFact>> PeekAsync(int maximum, CancellationToken cancellationToken);

    /// <summary>Forgets what the last look returned. After a crash some of it may come again.</summary>
    Task ForgetAsync(CancellationToken cancellationToken);

    /// <summary>Puts a fact aside that its store refuses, for people to look at.</summary>
    Task QuarantineAsync(AuditFact fact, CancellationToken cancellationToken);
}

/// <summary>What follows from what a spool tells of itself.</summary>
public static class AuditSpoolAge
{
    /// <summary>How long ago the oldest fact happened that has not been forgotten; null where none waits, and until somebody has looked. Never negative, whatever became of the clock.</summary>
    public static TimeSpan? AgeOfOldest(this IAuditSpool spool, TimeProvider time) =>
        spool.Oldest is { } oldest ? TimeSpan.FromTicks(Math.Max(0, (time.GetUtcNow() - oldest).Ticks)) : null;
}
