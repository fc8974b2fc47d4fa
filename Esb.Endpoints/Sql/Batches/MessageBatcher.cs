namespace Esb.Endpoints.Sql.Batches;

/// <summary>Gathers the messages of concurrent deliveries and runs them in batches, one at a time. Thread-safe.</summary>
/// <param name="config">The size of a batch, and its wait.</param>
/// <param name="mostAtOnce">The initial number of messages that can wait at the same time.</param>
/// <param name="run">Runs a batch and completes each of its messages. Never fails.</param>
/// <param name="time">The clock of the wait.</param>
internal sealed class MessageBatcher(
    SqlBatchConfig config,
    int mostAtOnce,
    Func<IReadOnlyList<BatchedMessage>, Task> run,
    TimeProvider time
)
{
    private readonly Lock _gate = new();
    private readonly LinkedList<BatchedMessage> _waiting = [];
    private TaskCompletionSource? _gathered;
    private volatile int _mostAtOnce = mostAtOnce;
    private bool _isRunning;

    /// <summary>The number of messages that can wait at the same time; a batch does not wait for more.</summary>
    public int MostAtOnce
    {
        set => _mostAtOnce = value;
    }

    private bool IsFull => _waiting.Count >= Math.Min(config.Size, _mostAtOnce);

    /// <summary>Returns after the effect of the message is committed; throws the failure of the database.</summary>
    /// <param name="message">Used once.</param>
    /// <param name="cancellationToken">Withdraws the message while it waits; has no effect once its batch runs.</param>
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
            if (IsFull)
                _gathered?.TrySetResult();
            if (_isRunning)
                return place;
            _isRunning = true;
        }

        _ = RunAsync(); // ends by itself; callers wait for their own messages
        return place;
    }

    private void Leave(LinkedListNode<BatchedMessage> place, CancellationToken cancellationToken)
    {
        lock (_gate)
        {
            if (place.List is null)
                return;
            _waiting.Remove(place);
        }

        place.Value.TrySetCanceled(cancellationToken);
    }

    private async Task RunAsync()
    {
        while (true)
        {
            if (config.Within > TimeSpan.Zero)
                await GatherAsync();
            if (TakeBatch() is not { } batch)
                return;
            if (batch.Count > 0)
                await run(batch);
        }
    }

    private async Task GatherAsync()
    {
        Task gathered;
        lock (_gate)
        {
            if (_waiting.Count == 0 || IsFull)
                return;
            gathered = (_gathered = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously)).Task;
        }

        await Task.WhenAny(gathered, Task.Delay(config.Within, time, CancellationToken.None));
    }

    // Null: no message waits, and the next one starts a new run.
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
