namespace Esb.Core.Storage;

/// <summary>Stores the failed attempts of messages that are retried in place, so that retries resume after a restart, or on another host
/// that shares the store. Durable when a call returns. Thread-safe.</summary>
/// <remarks>An entry that is not removed is kept for 7 days after its last change.</remarks>
public interface IAttemptStore
{
    /// <summary>The stored attempts of a message; null if none.</summary>
    /// <exception cref="Errors.EsbException">The store is unreachable or cannot be read.</exception>
    Task<KeptAttempts?> FindAsync(string endpoint, Guid messageId, CancellationToken cancellationToken);

    /// <summary>Stores the attempts of a message, replacing fewer stored ones. A stored entry with more attempts stays: it belongs to
    /// another host, which continues with the message.</summary>
    /// <exception cref="Errors.EsbException">The store is unreachable or cannot be written.</exception>
    Task KeepAsync(string endpoint, Guid messageId, KeptAttempts attempts, CancellationToken cancellationToken);

    /// <summary>Removes the attempts of a message.</summary>
    /// <exception cref="Errors.EsbException">The store is unreachable or cannot be written.</exception>
    Task RemoveAsync(string endpoint, Guid messageId, CancellationToken cancellationToken);
}

/// <summary>Retry progress of a message.</summary>
/// <param name="Count">Number of attempts so far, from 1.</param>
/// <param name="Failures">Failed attempts, oldest first; if many, the first and the latest ones.</param>
/// <param name="DueAt">Time at which the next attempt is due; null if no wait is needed.</param>
public sealed record KeptAttempts(int Count, IReadOnlyList<FailedAttempt> Failures, DateTimeOffset? DueAt);
