namespace Esb.Topics.RabbitMq.Receiving;

/// <summary>Handles up to a limit of arrivals at once, from any channel. The others wait in order, limited by the prefetch.
/// Thread-safe.</summary>
/// <remarks>The first steps of the work run on the reading thread: no other thread is woken for them.</remarks>
/// <param name="limit">The maximum number of concurrent arrivals.</param>
/// <param name="work">Never fails.</param>
internal sealed class DeliveryWorkers(int limit, Func<Arrival, Task> work)
{
    private readonly Lock _gate = new();
    private readonly Queue<Arrival> _waiting = [];
    private readonly TaskCompletionSource _ended = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private int _running;
    private bool _isStopping;

    /// <summary>True if any arrival is being handled.</summary>
    public bool IsBusy
    {
        get
        {
            lock (_gate)
                return _running > 0;
        }
    }

    /// <summary>Accepts an arrival; false if no new work is started any more.</summary>
    public bool TryAdd(Arrival arrival)
    {
        lock (_gate)
        {
            if (_isStopping)
                return false;
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

    /// <summary>Starts no new work.</summary>
    /// <returns>The waiting arrivals, which are not handled.</returns>
    public IReadOnlyList<Arrival> Stop()
    {
        lock (_gate)
        {
            _isStopping = true;
            List<Arrival> left = [.. _waiting];
            _waiting.Clear();
            if (_running == 0)
                _ended.TrySetResult();
            return left;
        }
    }

    /// <summary>Completes when all work in progress at the stop has ended.</summary>
    public Task EndedAsync() => _ended.Task;

    private async Task RunAsync(Arrival first)
    {
        for (var arrival = first; arrival is not null; arrival = TakeNext())
            await work(arrival);
    }

    private Arrival? TakeNext()
    {
        lock (_gate)
        {
            while (_waiting.TryDequeue(out var next))
            {
                if (next.Session.IsOpen)
                    return next; // otherwise the broker delivers it again
            }

            if (--_running == 0 && _isStopping)
                _ended.TrySetResult();
            return null;
        }
    }
}
