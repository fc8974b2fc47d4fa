namespace Esb.Storage.DeadLetters;

/// <summary>Removes dead letters that need no further decision. Thread-safe.</summary>
internal interface ILetterRetention
{
    /// <summary>Removes letters that were replayed or discarded before a time, and replay jobs that ended before it and that no letter
    /// references.</summary>
    /// <remarks>Open letters, and letters still held by a job, are kept regardless of age.</remarks>
    /// <exception cref="Core.Errors.EsbException">The store cannot be reached or written.</exception>
    Task<SettledLetters> RemoveSettledAsync(DateTimeOffset before, CancellationToken cancellationToken);
}

/// <summary>The numbers of removed letters and jobs.</summary>
internal sealed record SettledLetters(long Letters, long Jobs);
