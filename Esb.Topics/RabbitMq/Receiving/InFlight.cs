namespace Esb.Topics.RabbitMq.Receiving;

/// <summary>Counts what is under way, and tells when all of it has ended. Thread-safe.</summary>
internal sealed class InFlight
{
    private readonly Lock _gate = new();
    private TaskCompletionSource? _ended;
    private int _count;

    public int Count
    {
        get
        {
            lock (_gate) return _count;
        }
    }

    /// <summary>Begins something; disposing the result ends it.</summary>
    public IDisposable Begin()
    {
        lock (_gate) _count++;
        return new One(this);
    }

    /// <summary>Completes when nothing is under way.</summary>
    public Task EndedAsync()
    {
        lock (_gate)
        {
            if (_count == 0) return Task.CompletedTask;
            return (_ended ??= new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously)).Task;
        }
    }

    private void End()
    {
        lock (_gate)
        {
            if (--_count > 0) return;
            _ended?.TrySetResult();
            _ended = null;
        }
    }

    private sealed class One(InFlight all) : IDisposable
    {
        public void Dispose() => all.End();
    }
}
