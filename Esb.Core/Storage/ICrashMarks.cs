namespace Esb.Core.Storage;

/// <summary>Remembers, across a crash of the process, which message it was processing. Thread-safe.</summary>
/// <remarks>A mark that is not removed is kept for some days.</remarks>
public interface ICrashMarks
{
    /// <summary>Marks a message before it is processed; durable when it returns.</summary>
    /// <returns>Number of its marks: each except this one represents a crash.</returns>
    /// <exception cref="Errors.EsbException">The store is unreachable or cannot be written.</exception>
    Task<int> AddAsync(string endpoint, Guid messageId, CancellationToken cancellationToken);

    /// <summary>Removes all marks of a message.</summary>
    /// <exception cref="Errors.EsbException">The store is unreachable or cannot be written.</exception>
    Task RemoveAsync(string endpoint, Guid messageId, CancellationToken cancellationToken);
}
