namespace Esb.Core.Storage;

/// <summary>Keeps dead letters, and what has become of them (pattern: Dead Letter Channel). Thread-safe.</summary>
public interface IDeadLetterStore
{
    /// <summary>Keeps one; durable when it returns. The letter of a message and an endpoint is kept once.</summary>
    /// <remarks>The same failure again changes nothing. A newer one (<see cref="DeadLetter.LastAttempt"/>) opens the letter again, whatever had become of it, and counts as a failure of the replay job that had it.</remarks>
    /// <exception cref="Errors.EsbException">It could not be kept.</exception>
    Task AddAsync(DeadLetter letter, CancellationToken cancellationToken);

    /// <summary>The newest first.</summary>
    IAsyncEnumerable<DeadLetterSummary> FindAsync(DeadLetterQuery query, CancellationToken cancellationToken);

    /// <summary>A letter with everything; null where there is none.</summary>
    Task<KeptDeadLetter?> GetAsync(Guid id, CancellationToken cancellationToken);

    /// <summary>Groups by endpoint and code, the largest group first.</summary>
    /// <param name="filter">Which letters.</param>
    /// <param name="byCause">Whether to tell reasons apart too.</param>
    /// <param name="cancellationToken">Stops counting.</param>
    Task<IReadOnlyList<DeadLetterGroup>> GroupAsync(DeadLetterFilter filter, bool byCause, CancellationToken cancellationToken);

    /// <summary>Gives letters up; they are kept. Only those that a replay job does not have.</summary>
    /// <param name="filter">Which; open ones where it names no state.</param>
    /// <param name="decision">Who, and why.</param>
    /// <param name="limit">How many at most, from 1 to 1,000.</param>
    /// <param name="cancellationToken">Is looked at before the letters change.</param>
    /// <returns>The letters that were given up; fewer than the limit when no more are left.</returns>
    Task<IReadOnlyList<DeadLetterSummary>> DiscardAsync(DeadLetterFilter filter, OperatorDecision decision, int limit, CancellationToken cancellationToken);
}

/// <summary>Who decided, and why.</summary>
/// <param name="By">The operator's name, as the request gives it.</param>
/// <param name="Reason">Why; null where nobody was asked.</param>
public sealed record OperatorDecision(string By, string? Reason);
