namespace Esb.Core.Storage;

/// <summary>Keeps the failed attempts of messages that are repeated in place, so that their retry ladder goes on after a restart, and on another host that shares the store. Durable when a call returns. Thread-safe.</summary>
/// <remarks>What nobody removes is kept for 7 days after its last change.</remarks>
public interface IAttemptStore
{
    /// <summary>What is kept of a message; null where nothing is.</summary>
    /// <exception cref="Errors.EsbException">The store cannot be reached or read.</exception>
    Task<KeptAttempts?> FindAsync(string endpoint, Guid messageId, CancellationToken cancellationToken);

    /// <summary>Keeps the attempts of a message, in place of fewer that were kept before. What counts more attempts stays: it is another host's, which goes on with the message.</summary>
    /// <exception cref="Errors.EsbException">The store cannot be reached or written.</exception>
    Task KeepAsync(string endpoint, Guid messageId, KeptAttempts attempts, CancellationToken cancellationToken);

    /// <summary>Forgets the attempts of a message.</summary>
    /// <exception cref="Errors.EsbException">The store cannot be reached or written.</exception>
    Task RemoveAsync(string endpoint, Guid messageId, CancellationToken cancellationToken);
}

/// <summary>How far a message has come on its retry ladder.</summary>
/// <param name="Count">Its attempts so far, from 1.</param>
/// <param name="Failures">Those that failed, oldest first; of many the first and the last ones.</param>
/// <param name="DueAt">When the next one is due; null where nothing is to be waited for.</param>
public sealed record KeptAttempts(int Count, IReadOnlyList<FailedAttempt> Failures, DateTimeOffset? DueAt);
