namespace Esb.Workflows.Processes.Endings;

/// <summary>Values of state whose messages have succeeded, and whose publishes still wait in the memory of this host. Later messages see
/// them; they are written when the publishes have arrived, in the order in which the messages ended. Thread-safe.</summary>
/// <remarks>A kill loses what waits in memory, and the values with it: the sources bring the messages again, and the state is as it was
/// before them.</remarks>
internal sealed class ArrivingState
{
    private readonly Lock _lock = new();
    private readonly Dictionary<(string Endpoint, string Name), Waiting> _last = [];

    /// <summary>The value that will be written last; false if none waits.</summary>
    /// <param name="endpoint">The endpoint to which the state belongs.</param>
    /// <param name="name">The name of its mark.</param>
    /// <param name="text">The value; null if it will be removed.</param>
    public bool TryFind(string endpoint, string name, out string? text)
    {
        lock (_lock)
        {
            var waits = _last.TryGetValue((endpoint, name), out var last);
            text = last?.Text;
            return waits;
        }
    }

    /// <summary>Holds a value until its message has arrived, and all values that ended before it are written or given up.</summary>
    /// <param name="endpoint">The endpoint to which the state belongs.</param>
    /// <param name="name">The name of its mark.</param>
    /// <param name="text">The value; null removes it.</param>
    /// <param name="arrived">Completes when what the message published has been settled. If it fails, the value is not written.</param>
    /// <param name="write">Writes the value.</param>
    /// <returns>A task that completes when the value is written, and fails where it is not; null if nothing needs to be waited for, so
    /// that the caller writes it.</returns>
    public Task? Add(string endpoint, string name, string? text, Task arrived, Func<Task> write)
    {
        var key = (endpoint, name);
        var written = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var waiting = new Waiting(text, written.Task);
        Waiting? before;
        lock (_lock)
        {
            before = _last.GetValueOrDefault(key);
            if (before is null && arrived.IsCompletedSuccessfully)
                return null;
            _last[key] = waiting;
        }

        return WriteInTurnAsync();

        async Task WriteInTurnAsync()
        {
            try
            {
                if (before is not null)
                    await before.Ended;
                await arrived;
                await write();
            }
            finally
            {
                lock (_lock)
                {
                    if (_last.GetValueOrDefault(key) is { } last && ReferenceEquals(last, waiting))
                        _last.Remove(key);
                }

                written.SetResult();
            }
        }
    }

    // Ended: it was written or given up; never fails.
    private sealed record Waiting(string? Text, Task Ended);
}
