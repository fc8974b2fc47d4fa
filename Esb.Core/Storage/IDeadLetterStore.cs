namespace Esb.Core.Storage;

/// <summary>Keeps dead letters until an operator decides (pattern: Dead Letter Channel). Thread-safe.</summary>
public interface IDeadLetterStore
{
    /// <summary>Keeps one; durable when it returns. The same message of the same endpoint is kept once.</summary>
    Task AddAsync(DeadLetter letter, CancellationToken cancellationToken);

    /// <summary>The newest dead letters first.</summary>
    /// <param name="limit">From 1 to 1,000.</param>
    /// <param name="cancellationToken">Stops reading.</param>
    IAsyncEnumerable<DeadLetter> ListAsync(int limit, CancellationToken cancellationToken);
}
