namespace Esb.Topics.RabbitMq.Receiving;

/// <summary>Works on so many arrivals at once, whatever channel they came over; the others wait in their order, as many as the prefetch lets come. Thread-safe.</summary>
/// <remarks>The first steps of the work run where the delivery is read: no other thread is woken up for them.</remarks>
/// <param name="limit">The most at once.</param>
/// <param name="work">Never fails.</param>
internal sealed class DeliveryWorkers(int limit, Func<Arrival, Task> work)
{
    private readonly Lock _gate = new();
    private readonly Queue<Arrival> _waiting = [];
    private readonly TaskCompletionSource _ended = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private int _running;
    private bool _isStopping;

    /// <summary>Whether something is worked on.</summary>
    public bool IsBusy
    {
        get
        {
            lock (_gate) return _running > 0;
        }
    }

    /// <summary>Takes an arrival; false when nothing is begun any more.</summary>
    public bool TryAdd(Arrival arrival)
    {
        lock (_gate)
        {
            if (_isStopping) return false;
            if (_running == limit)
            {
                _waiting.Enqueue(arrival);
                return true;
            }

            _running++;
        }

        _ = RunAsync(arrival); // owned: EndedAsync waits for it
        return true;
    }

    /// <summary>Begins nothing any more.</summary>
    /// <returns>What waited, and is not worked on.</returns>
    public IReadOnlyList<Arrival> Stop()
    {
        lock (_gate)
        {
            _isStopping = true;
            List<Arrival> left = [.. _waiting];
            _waiting.Clear();
            if (_running == 0) _ended.TrySetResult();
            return left;
        }
    }

    /// <summary>Completes when all that was under way at the stop has ended.</summary>
    public Task EndedAsync() => _ended.Task;

    private async Task RunAsync(Arrival first)
    {
        for (var arrival = first; arrival is not null; arrival = TakeNext()) await work(arrival);
    }

    private Arrival? TakeNext()
    {
        lock (_gate)
        {
            while (_waiting.TryDequeue(out var next))
            {
                if (next.Session.IsOpen) return next; // otherwise the broker delivers it again
            }

            if (--_running == 0 && _isStopping) _ended.TrySetResult();
            return null;
        }
    }
}
