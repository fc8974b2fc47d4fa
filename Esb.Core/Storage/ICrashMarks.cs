namespace Esb.Core.Storage;

/// <summary>Remembers, across the death of a process, which message it was just working on. Thread-safe.</summary>
/// <remarks>A mark is kept for some days when nobody removes it.</remarks>
public interface ICrashMarks
{
    /// <summary>Marks a message before it is worked on; durable when it returns.</summary>
    /// <returns>How many marks it now has: each but this one is a death.</returns>
    /// <exception cref="Errors.EsbException">The store cannot be reached or written.</exception>
    Task<int> AddAsync(string endpoint, Guid messageId, CancellationToken cancellationToken);

    /// <summary>Takes all marks off a message.</summary>
    /// <exception cref="Errors.EsbException">The store cannot be reached or written.</exception>
    Task RemoveAsync(string endpoint, Guid messageId, CancellationToken cancellationToken);
}
