namespace Esb.Core.Storage;

/// <summary>Stores dead letters, and their states (pattern: Dead Letter Channel). Thread-safe.</summary>
public interface IDeadLetterStore
{
    /// <summary>Stores a letter; durable when it returns. There is one letter for each message and endpoint.</summary>
    /// <remarks>A repeated report of the same failure changes nothing. A newer failure (<see cref="DeadLetter.LastAttempt"/>) reopens the
    /// letter, whatever its state, and counts as a failure of the replay job that held it.</remarks>
    /// <exception cref="Errors.EsbException">The letter could not be stored.</exception>
    Task AddAsync(DeadLetter letter, CancellationToken cancellationToken);

    /// <summary>Letters, newest first.</summary>
    IAsyncEnumerable<DeadLetterSummary> FindAsync(DeadLetterQuery query, CancellationToken cancellationToken);

    /// <summary>A letter with all details; null if it does not exist.</summary>
    Task<KeptDeadLetter?> GetAsync(Guid id, CancellationToken cancellationToken);

    /// <summary>Groups letters by endpoint and code, the largest group first.</summary>
    /// <param name="filter">Filter for the letters.</param>
    /// <param name="byCause">True to group by reason as well.</param>
    /// <param name="cancellationToken">Cancels counting.</param>
    Task<IReadOnlyList<DeadLetterGroup>> GroupAsync(DeadLetterFilter filter, bool byCause, CancellationToken cancellationToken);

    /// <summary>Discards letters that no replay job holds; they are kept in the store.</summary>
    /// <param name="filter">The filter; open letters if it names no state.</param>
    /// <param name="decision">The operator and the reason.</param>
    /// <param name="limit">Maximum number of letters, from 1 to 1,000.</param>
    /// <param name="cancellationToken">Checked before the letters change.</param>
    /// <returns>The discarded letters; fewer than the limit if no more are left.</returns>
    Task<IReadOnlyList<DeadLetterSummary>> DiscardAsync(
        DeadLetterFilter filter,
        OperatorDecision decision,
        int limit,
        CancellationToken cancellationToken
    );

    /// <summary>Replaces what is sent instead of a letter's body, unless that has changed in between.</summary>
    /// <param name="id">The letter.</param>
    /// <param name="edit">The edit; null to send the letter's own body again.</param>
    /// <param name="expected">The digest of the <see cref="KeptDeadLetter.CurrentBody"/> that the operator saw.</param>
    /// <param name="cancellationToken">Checked before anything changes.</param>
    /// <returns>The letter as it was before; null if it does not exist.</returns>
    /// <exception cref="Errors.EsbException"><c>ESB-LETTER-CHANGED</c>: its body is another one by now. <c>ESB-LETTER-HELD</c>: a replay
    /// job is sending it.</exception>
    Task<KeptDeadLetter?> EditAsync(Guid id, LetterEdit? edit, string expected, CancellationToken cancellationToken);
}

/// <summary>A decision of an operator.</summary>
/// <param name="By">The operator's name, as the request gives it.</param>
/// <param name="Reason">The reason; null if none was requested.</param>
public sealed record OperatorDecision(string By, string? Reason);
