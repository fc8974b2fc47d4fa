namespace Esb.Core.Storage;

/// <summary>Stores small values of endpoints that must survive the process, such as the last tick of a timer. Durable when a call returns.
/// Thread-safe.</summary>
/// <remarks>Hosts that share the store share the values.</remarks>
public interface IEndpointMarks
{
    /// <summary>The time for which a message keeps its number.</summary>
    static readonly TimeSpan NumberKept = TimeSpan.FromDays(7);

    /// <summary>The stored value; null if none, or if it has expired.</summary>
    /// <exception cref="Errors.EsbException">The store is unreachable or cannot be read.</exception>
    Task<string?> FindAsync(string endpoint, string name, CancellationToken cancellationToken);

    /// <summary>Stores a value in place of the one before.</summary>
    /// <param name="endpoint">The endpoint's name.</param>
    /// <param name="name">The name of the value within the endpoint.</param>
    /// <param name="value">The value, at most a few thousand characters.</param>
    /// <param name="keep">The time after which it is removed; null to keep it.</param>
    /// <param name="cancellationToken">Cancels the call; whether the value is stored is then unknown.</param>
    /// <exception cref="Errors.EsbException">The store is unreachable or cannot be written.</exception>
    Task KeepAsync(string endpoint, string name, string value, TimeSpan? keep, CancellationToken cancellationToken);

    /// <summary>The number of a message at an endpoint, counted from 1 without gaps in the order of the first requests. A message keeps its
    /// number for <see cref="NumberKept"/>.</summary>
    /// <exception cref="Errors.EsbException">The store is unreachable or cannot be written.</exception>
    Task<long> NumberAsync(string endpoint, Guid message, CancellationToken cancellationToken);

    /// <summary>Removes a value; does nothing if absent.</summary>
    /// <exception cref="Errors.EsbException">The store is unreachable or cannot be written.</exception>
    Task RemoveAsync(string endpoint, string name, CancellationToken cancellationToken);
}
