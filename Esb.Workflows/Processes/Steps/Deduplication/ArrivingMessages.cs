using System.Collections.Concurrent;
using Esb.Core.Storage;

namespace Esb.Workflows.Processes.Steps.Deduplication;

/// <summary>Messages whose processes have succeeded, and whose publishes still wait in the memory of this process. They are repetitions to
/// none but this process: if it ends, their sources bring them again. Thread-safe.</summary>
internal sealed class ArrivingMessages
{
    private readonly ConcurrentDictionary<IdempotencyKey, string> _ids = new();

    /// <summary>The message under a key; null if none is arriving.</summary>
    public string? Find(IdempotencyKey key) => _ids.GetValueOrDefault(key);

    /// <summary>Holds a message under its key until it has arrived.</summary>
    /// <param name="key">The key.</param>
    /// <param name="message">The message.</param>
    /// <param name="arrived">Completes when what the message published has been settled.</param>
    /// <param name="keep">Remembers the message then.</param>
    /// <returns>A task that completes when the message is remembered.</returns>
    public Task Add(IdempotencyKey key, string message, Task arrived, Func<Task> keep)
    {
        _ids[key] = message;
        return KeepAsync();

        async Task KeepAsync()
        {
            try
            {
                await arrived;
                await keep();
            }
            finally
            {
                _ids.TryRemove(key, out _);
            }
        }
    }
}
