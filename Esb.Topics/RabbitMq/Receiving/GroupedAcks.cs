using RabbitMQ.Client;
using RabbitMQ.Client.Exceptions;

namespace Esb.Topics.RabbitMq.Receiving;

/// <summary>Acknowledges what came over one channel in groups: one frame for all deliveries up to the oldest that is not settled. Thread-safe.</summary>
/// <remarks>
/// A delivery that is done waits for company until the group is full, 10 ms at most, and not at all where nothing else is in hand. A slow one does not
/// hold up those behind it: they are acknowledged one by one. What a crash leaves unacknowledged is delivered again, as ever.
/// </remarks>
internal sealed class GroupedAcks : IAsyncDisposable
{
    private const int LargestGroup = 50;

    // Those that are done and not acknowledged keep others from coming: a quarter of them at most.
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

    /// <summary>Notes a delivery. In the order in which they come.</summary>
    public LinkedListNode<ulong> Came(ulong tag)
    {
        lock (_gate) return _unsettled.AddLast(tag);
    }

    /// <summary>A delivery is done, and may be acknowledged now or soon.</summary>
    public ValueTask DoneAsync(LinkedListNode<ulong> place)
    {
        lock (_gate)
        {
            _unsettled.Remove(place);
            _done.Add(place.Value);
            if (_done.Count < _size && _unsettled.Count > 0)
            {
                if (!_isTimed) _timer.Change(Latest, Timeout.InfiniteTimeSpan);
                _isTimed = true;
                return ValueTask.CompletedTask;
            }
        }

        return FlushAsync();
    }

    /// <summary>A delivery goes back to its queue.</summary>
    public async ValueTask ReturnAsync(LinkedListNode<ulong> place)
    {
        await SendAsync(() => _channel.BasicNackAsync(place.Value, multiple: false, requeue: true, CancellationToken.None));
        lock (_gate) _unsettled.Remove(place); // only now: no group may reach beyond it before the broker has it back
    }

    /// <summary>Acknowledges all that is done; where somebody does so already, by leaving it to them.</summary>
    public async ValueTask FlushAsync()
    {
        lock (_gate)
        {
            _isTimed = false;
            _isWanted = true;
            if (_isFlushing) return; // frames that overtake each other would name deliveries that the broker no longer knows
            _isFlushing = true;
        }

        try
        {
            while (TakeGroup() is var (last, isGroup, others))
            {
                if (last > 0) await SendAsync(() => _channel.BasicAckAsync(last, isGroup, CancellationToken.None));
                foreach (var tag in others) await SendAsync(() => _channel.BasicAckAsync(tag, multiple: false, CancellationToken.None));
            }
        }
        catch
        {
            lock (_gate) EndFlush();
            throw;
        }
    }

    /// <summary>Acknowledges all that is done; the channel has taken it when this returns, also what somebody else was about to acknowledge.</summary>
    public async ValueTask DrainAsync()
    {
        await FlushAsync();
        Task? others = null;
        lock (_gate)
        {
            if (_isFlushing) others = (_drained ??= new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously)).Task;
        }

        if (others is not null) await others;
    }

    public ValueTask DisposeAsync() => _timer.DisposeAsync();

    // Null: nothing is left to do.
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
                if (tag > oldest) continue;
                last = Math.Max(last, tag);
                count++;
            }

            if (count == _leaving.Count) return (last, count > 1, []);
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
        catch (Exception ex) when (ex is OperationInterruptedException or IOException or ObjectDisposedException or InvalidOperationException)
        {
            // The channel is lost, and the broker delivers again what it has not heard of.
        }
    }
}
