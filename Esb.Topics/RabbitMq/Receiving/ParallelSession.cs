using Esb.Topics.RabbitMq.Connections;
using Esb.Topics.RabbitMq.Wire;
using RabbitMQ.Client;
using RabbitMQ.Client.Events;

namespace Esb.Topics.RabbitMq.Receiving;

/// <summary>One channel that an endpoint without an order consumes over, from its opening to its loss. Thread-safe.</summary>
internal sealed class ParallelSession : IAsyncDisposable
{
    // What is being sent when the channel is lost may as well end: at worst it is delivered twice. But not for ever: it takes a place.
    private static readonly TimeSpan Grace = TimeSpan.FromSeconds(5);

    private readonly ChannelSession _channel;
    private readonly DeliveryWorkers _workers;
    private readonly SeenDeliveries _seen;
    private readonly TimeProvider _time;
    private readonly CancellationTokenSource _leaving;
    private readonly CancellationTokenSource _aborting;
    private readonly TaskCompletionSource<string> _ended = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private string? _consumer;
    private long _count;

    private ParallelSession(IChannel channel, ushort prefetch, DeliveryWorkers workers, SeenDeliveries seen, TimeProvider time, CancellationToken stopping)
    {
        _channel = new ChannelSession(channel, lane: 0, time);
        (_workers, _seen, _time) = (workers, seen, time);
        _leaving = CancellationTokenSource.CreateLinkedTokenSource(stopping, _channel.Source.Lost);
        _aborting = new CancellationTokenSource(Timeout.InfiniteTimeSpan, time);
        (Leaving, Aborting) = (_leaving.Token, _aborting.Token);
        _channel.Source.Lost.UnsafeRegister(aborting => ((CancellationTokenSource)aborting!).CancelAfter(Grace), _aborting);
        Acks = new GroupedAcks(channel, prefetch, time);
    }

    /// <summary>Whether what comes over it can still be settled.</summary>
    public bool IsOpen => _channel.IsOpen;

    /// <summary>Deliveries that came.</summary>
    public long Count => Volatile.Read(ref _count);

    /// <summary>Whether something is worked on, of whichever channel.</summary>
    public bool IsBusy => _workers.IsBusy;

    /// <summary>Completes with the reason when nothing comes over it any more.</summary>
    public Task<string> Ended => _ended.Task;

    public GroupedAcks Acks { get; }

    public ChannelSession Channel => _channel;

    /// <summary>Cancelled when what only waits is to go back: the endpoint stops, or the channel is lost.</summary>
    public CancellationToken Leaving { get; }

    /// <summary>Cancelled when also what is being sent is to end: the channel was lost 5 s ago.</summary>
    public CancellationToken Aborting { get; }

    /// <summary>Begins to consume.</summary>
    /// <param name="connection">Where it opens its channel.</param>
    /// <param name="queue">The queue.</param>
    /// <param name="prefetch">Deliveries that may be on their way here unsettled.</param>
    /// <param name="workers">Take what comes.</param>
    /// <param name="seen">Notes what comes.</param>
    /// <param name="time">For what may come late.</param>
    /// <param name="stopping">The endpoint stops.</param>
    public static async Task<ParallelSession> OpenAsync(
        IConnection connection, string queue, ushort prefetch, DeliveryWorkers workers, SeenDeliveries seen, TimeProvider time, CancellationToken stopping)
    {
        var channel = await connection.CreateChannelAsync(cancellationToken: stopping);
        var session = new ParallelSession(channel, prefetch, workers, seen, time, stopping);
        try
        {
            await session.ConsumeAsync(channel, queue, prefetch, stopping);
            return session;
        }
        catch
        {
            await session.DisposeAsync();
            throw;
        }
    }

    /// <summary>Lets nothing more come; what came can still be settled.</summary>
    public async Task CancelAsync()
    {
        if (_consumer is null || !IsOpen) return;
        try
        {
            await _channel.Channel.BasicCancelAsync(_consumer, cancellationToken: CancellationToken.None);
        }
        catch (Exception)
        {
            // Lost meanwhile, or not answered in time: who leaves closes the channel next, and the broker takes back what came over it.
        }
    }

    /// <summary>Acknowledges what is done and closes the channel: the broker takes the rest back.</summary>
    public async ValueTask DisposeAsync()
    {
        await Acks.DrainAsync();
        await Acks.DisposeAsync();
        await _channel.CloseAsync();
        await _channel.Channel.DisposeAsync();
        await _leaving.CancelAsync();
        _leaving.Dispose();
    }

    private async Task ConsumeAsync(IChannel channel, string queue, ushort prefetch, CancellationToken cancellationToken)
    {
        var consumer = new AsyncEventingBasicConsumer(channel);
        consumer.ReceivedAsync += TakeAsync;
        consumer.UnregisteredAsync += (_, _) => EndAsync("its queue was deleted");
        channel.ChannelShutdownAsync += (_, shutdown) => EndAsync(BrokerFault.Describe(shutdown));
        await channel.BasicQosAsync(0, prefetch, global: false, cancellationToken);
        _consumer = await channel.BasicConsumeAsync(queue, autoAck: false, consumer, cancellationToken);
    }

    private Task TakeAsync(object sender, BasicDeliverEventArgs delivery)
    {
        Interlocked.Increment(ref _count);
        var place = Acks.Came(delivery.DeliveryTag);
        return _workers.TryAdd(new Arrival(this, _seen.Came(WireMessage.Of(delivery, _time.GetUtcNow()), _channel.Source), place)) ? Task.CompletedTask : Acks.ReturnAsync(place).AsTask();
    }

    private Task EndAsync(string reason)
    {
        _ended.TrySetResult(reason);
        return Task.CompletedTask;
    }
}
