namespace Esb.Endpoints.Sql.Batches;

/// <summary>Gathers messages of concurrent deliveries and has them run together, one batch after the other. Thread-safe.</summary>
/// <param name="config">How many, and for how long.</param>
/// <param name="mostAtOnce">How many can wait at the same time, until somebody says otherwise.</param>
/// <param name="run">Runs a batch, and tells each of its messages how it ended. Never fails.</param>
/// <param name="time">For the wait.</param>
internal sealed class MessageBatcher(SqlBatchConfig config, int mostAtOnce, Func<IReadOnlyList<BatchedMessage>, Task> run, TimeProvider time)
{
    private readonly Lock _gate = new();
    private readonly LinkedList<BatchedMessage> _waiting = [];
    private TaskCompletionSource? _gathered;
    private volatile int _mostAtOnce = mostAtOnce;
    private bool _isRunning;

    /// <summary>How many can wait at the same time: more are not waited for.</summary>
    public int MostAtOnce
    {
        set => _mostAtOnce = value;
    }

    private bool IsFull => _waiting.Count >= Math.Min(config.Size, _mostAtOnce);

    /// <summary>Returns once the effect of the message is committed; throws what the database said of it.</summary>
    /// <param name="message">Used once.</param>
    /// <param name="cancellationToken">Takes the message back as long as it waits; once its batch runs, that decides.</param>
    public async Task AddAsync(BatchedMessage message, CancellationToken cancellationToken)
    {
        var place = Join(message);
        await using var leaving = cancellationToken.UnsafeRegister(_ => Leave(place, cancellationToken), null);
        await message.Task;
    }

    private LinkedListNode<BatchedMessage> Join(BatchedMessage message)
    {
        LinkedListNode<BatchedMessage> place;
        lock (_gate)
        {
            place = _waiting.AddLast(message);
            if (IsFull) _gathered?.TrySetResult();
            if (_isRunning) return place;
            _isRunning = true;
        }

        _ = RunAsync(); // ends by itself; whoever waits for a message waits for it
        return place;
    }

    private void Leave(LinkedListNode<BatchedMessage> place, CancellationToken cancellationToken)
    {
        lock (_gate)
        {
            if (place.List is null) return;
            _waiting.Remove(place);
        }

        place.Value.TrySetCanceled(cancellationToken);
    }

    private async Task RunAsync()
    {
        while (true)
        {
            if (config.Within > TimeSpan.Zero) await GatherAsync();
            if (TakeBatch() is not { } batch) return;
            if (batch.Count > 0) await run(batch);
        }
    }

    private async Task GatherAsync()
    {
        Task gathered;
        lock (_gate)
        {
            if (_waiting.Count == 0 || IsFull) return;
            gathered = (_gathered = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously)).Task;
        }

        await Task.WhenAny(gathered, Task.Delay(config.Within, time, CancellationToken.None));
    }

    // Null: nobody waits, and the next one begins anew.
    private List<BatchedMessage>? TakeBatch()
    {
        lock (_gate)
        {
            _gathered = null;
            if (_waiting.Count == 0)
            {
                _isRunning = false;
                return null;
            }

            var batch = new List<BatchedMessage>(Math.Min(config.Size, _waiting.Count));
            for (var place = _waiting.First; place is not null && batch.Count < config.Size; place = _waiting.First)
            {
                batch.Add(place.Value);
                _waiting.Remove(place);
            }

            return batch;
        }
    }
}
