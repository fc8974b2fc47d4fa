namespace Esb.Topics.RabbitMq.Publishing;

/// <summary>A gate that publishes pass. While it is closed, for a moment, they wait. Thread-safe.</summary>
internal sealed class Passage(TimeProvider time)
{
    private readonly Lock _gate = new();
    private int _inside;
    private TaskCompletionSource? _opened;
    private TaskCompletionSource? _emptied;
    private ITimer? _reopening;

    public async ValueTask EnterAsync()
    {
        while (true)
        {
            Task opened;
            lock (_gate)
            {
                if (_opened is null)
                {
                    _inside++;
                    return;
                }

                opened = _opened.Task;
            }

            await opened;
        }
    }

    public void Leave()
    {
        lock (_gate)
        {
            if (--_inside == 0)
                _emptied?.TrySetResult();
        }
    }

    /// <summary>Closes the gate; completes when all publishes inside have left.</summary>
    /// <param name="span">The time after which it opens by itself.</param>
    public Task CloseAsync(TimeSpan span)
    {
        lock (_gate)
        {
            _opened ??= NewSignal();
            _reopening?.Dispose();
            _reopening = time.CreateTimer(_ => Open(), null, span, Timeout.InfiniteTimeSpan);
            if (_inside == 0)
                return Task.CompletedTask;
            return (_emptied = NewSignal()).Task;
        }
    }

    public void Open()
    {
        lock (_gate)
        {
            _reopening?.Dispose();
            _opened?.TrySetResult();
            (_reopening, _opened) = (null, null);
        }
    }

    private static TaskCompletionSource NewSignal() => new(TaskCreationOptions.RunContinuationsAsynchronously);
}
