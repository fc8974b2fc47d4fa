using RabbitMQ.Client;
using RabbitMQ.Client.Exceptions;

namespace Esb.Topics.RabbitMq.Receiving;

/// <summary>Acknowledges the deliveries of one channel in groups: one frame for all deliveries up to the oldest unsettled one.
/// Thread-safe.</summary>
/// <remarks>
/// A finished delivery waits until the group is full, 10 ms at most, and not at all if no other is in progress. A slow delivery does not
/// delay those behind it: they are acknowledged one by one. Deliveries that a crash leaves unacknowledged are delivered again, as always.
/// </remarks>
internal sealed class GroupedAcks : IAsyncDisposable
{
    private const int LargestGroup = 50;

    // Finished but unacknowledged deliveries take up prefetch: a quarter of it at most.
    private const int GroupsOfPrefetch = 4;

    private static readonly TimeSpan Latest = TimeSpan.FromMilliseconds(10);

    private readonly IChannel _channel;
    private readonly int _size;
    private readonly Lock _gate = new();
    private readonly LinkedList<ulong> _unsettled = [];
    private readonly ITimer _timer;
    private List<ulong> _done = [];
    private List<ulong> _leaving = [];
    private bool _isTimed;
    private bool _isFlushing;
    private bool _isWanted;
    private TaskCompletionSource? _drained;

    public GroupedAcks(IChannel channel, ushort prefetch, TimeProvider time)
    {
        _channel = channel;
        _size = Math.Clamp(prefetch / GroupsOfPrefetch, 1, LargestGroup);
        _timer = time.CreateTimer(_ => _ = FlushAsync(), null, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
    }

    /// <summary>Adds a delivery. Call in order of arrival.</summary>
    public LinkedListNode<ulong> Came(ulong tag)
    {
        lock (_gate)
            return _unsettled.AddLast(tag);
    }

    /// <summary>Marks a delivery as finished: it may be acknowledged now or soon.</summary>
    public ValueTask DoneAsync(LinkedListNode<ulong> place)
    {
        lock (_gate)
        {
            _unsettled.Remove(place);
            _done.Add(place.Value);
            if (_done.Count < _size && _unsettled.Count > 0)
            {
                if (!_isTimed)
                    _timer.Change(Latest, Timeout.InfiniteTimeSpan);
                _isTimed = true;
                return ValueTask.CompletedTask;
            }
        }

        return FlushAsync();
    }

    /// <summary>Returns a delivery to its queue.</summary>
    public async ValueTask ReturnAsync(LinkedListNode<ulong> place)
    {
        await SendAsync(() => _channel.BasicNackAsync(place.Value, multiple: false, requeue: true, CancellationToken.None));
        lock (_gate)
            _unsettled.Remove(place); // only now: no group may reach beyond it before the broker has it back
    }

    /// <summary>Acknowledges all finished deliveries; leaves them to a flush that is already running.</summary>
    public async ValueTask FlushAsync()
    {
        lock (_gate)
        {
            _isTimed = false;
            _isWanted = true;
            if (_isFlushing)
                return; // frames that overtake each other would name deliveries unknown to the broker
            _isFlushing = true;
        }

        try
        {
            while (TakeGroup() is var (last, isGroup, others))
            {
                if (last > 0)
                    await SendAsync(() => _channel.BasicAckAsync(last, isGroup, CancellationToken.None));
                foreach (var tag in others)
                    await SendAsync(() => _channel.BasicAckAsync(tag, multiple: false, CancellationToken.None));
            }
        }
        catch
        {
            lock (_gate)
                EndFlush();
            throw;
        }
    }

    /// <summary>Acknowledges all finished deliveries. On return the channel has accepted every acknowledgement, including those of a
    /// concurrent flush.</summary>
    public async ValueTask DrainAsync()
    {
        await FlushAsync();
        Task? others = null;
        lock (_gate)
        {
            if (_isFlushing)
                others = (_drained ??= new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously)).Task;
        }

        if (others is not null)
            await others;
    }

    public ValueTask DisposeAsync() => _timer.DisposeAsync();

    // Returns null if nothing is left to do.
    private (ulong Last, bool IsGroup, IReadOnlyList<ulong> Others)? TakeGroup()
    {
        lock (_gate)
        {
            if (!_isWanted || _done.Count == 0)
            {
                EndFlush();
                return null;
            }

            _isWanted = false;
            (_done, _leaving) = (_leaving, _done);
            _done.Clear();
            var oldest = _unsettled.First?.Value ?? ulong.MaxValue;
            var (last, count) = (0UL, 0);
            foreach (var tag in _leaving)
            {
                if (tag > oldest)
                    continue;
                last = Math.Max(last, tag);
                count++;
            }

            if (count == _leaving.Count)
                return (last, count > 1, []);
            return (last, count > 1, [.. _leaving.Where(tag => tag > oldest)]);
        }
    }

    private void EndFlush()
    {
        _isFlushing = _isWanted = false;
        _drained?.TrySetResult();
        _drained = null;
    }

    private static async ValueTask SendAsync(Func<ValueTask> send)
    {
        try
        {
            await send();
        }
        catch (Exception ex)
            when (ex is OperationInterruptedException or IOException or ObjectDisposedException or InvalidOperationException)
        {
            // The channel is lost, and the broker redelivers all unacknowledged messages.
        }
    }
}
