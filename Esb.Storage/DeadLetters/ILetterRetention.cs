namespace Esb.Storage.DeadLetters;

/// <summary>Lets go of dead letters that nobody has to decide on any more. Thread-safe.</summary>
internal interface ILetterRetention
{
    /// <summary>Removes letters that were replayed or discarded before a time, and replay jobs that were over before it and that no letter names any more.</summary>
    /// <remarks>Open letters, and those that a job still has, stay however old they are.</remarks>
    /// <exception cref="Core.Errors.EsbException">The store cannot be reached or written.</exception>
    Task<SettledLetters> RemoveSettledAsync(DateTimeOffset before, CancellationToken cancellationToken);
}

/// <summary>What was removed.</summary>
internal sealed record SettledLetters(long Letters, long Jobs);
