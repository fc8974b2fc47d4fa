using Esb.Topics.RabbitMq.Connections;
using Esb.Topics.RabbitMq.Wire;
using RabbitMQ.Client;
using RabbitMQ.Client.Events;

namespace Esb.Topics.RabbitMq.Receiving;

/// <summary>One channel over which an endpoint without an order consumes, from its opening to its loss. Thread-safe.</summary>
internal sealed class ParallelSession : IAsyncDisposable
{
    // A send in progress may end after the channel is lost: at worst the message is delivered twice. It is limited because it occupies a
    // worker.
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

    private ParallelSession(
        IChannel channel,
        ushort prefetch,
        DeliveryWorkers workers,
        SeenDeliveries seen,
        TimeProvider time,
        CancellationToken stopping
    )
    {
        _channel = new ChannelSession(channel, lane: 0, time);
        (_workers, _seen, _time) = (workers, seen, time);
        _leaving = CancellationTokenSource.CreateLinkedTokenSource(stopping, _channel.Source.Lost);
        _aborting = new CancellationTokenSource(Timeout.InfiniteTimeSpan, time);
        (Leaving, Aborting) = (_leaving.Token, _aborting.Token);
        _channel.Source.Lost.UnsafeRegister(aborting => ((CancellationTokenSource)aborting!).CancelAfter(Grace), _aborting);
        Acks = new GroupedAcks(channel, prefetch, time);
    }

    /// <summary>True if its deliveries can still be settled.</summary>
    public bool IsOpen => _channel.IsOpen;

    /// <summary>The number of deliveries received.</summary>
    public long Count => Volatile.Read(ref _count);

    /// <summary>True if any delivery is being handled, of whichever channel.</summary>
    public bool IsBusy => _workers.IsBusy;

    /// <summary>Completes with the reason when no more deliveries arrive.</summary>
    public Task<string> Ended => _ended.Task;

    public GroupedAcks Acks { get; }

    public ChannelSession Channel => _channel;

    /// <summary>Cancelled when waiting deliveries have to be returned: the endpoint stops, or the channel is lost.</summary>
    public CancellationToken Leaving { get; }

    /// <summary>Cancelled when sends in progress have to end as well: the channel was lost 5 s ago.</summary>
    public CancellationToken Aborting { get; }

    /// <summary>Starts to consume.</summary>
    /// <param name="connection">The connection for its channel.</param>
    /// <param name="queue">The queue.</param>
    /// <param name="prefetch">The maximum number of unsettled deliveries.</param>
    /// <param name="workers">Handle the deliveries.</param>
    /// <param name="seen">Records the deliveries.</param>
    /// <param name="time">The clock for its time-outs.</param>
    /// <param name="stopping">Cancelled when the endpoint stops.</param>
    public static async Task<ParallelSession> OpenAsync(
        IConnection connection,
        string queue,
        ushort prefetch,
        DeliveryWorkers workers,
        SeenDeliveries seen,
        TimeProvider time,
        CancellationToken stopping
    )
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

    /// <summary>Stops new deliveries; those received can still be settled.</summary>
    public async Task CancelAsync()
    {
        if (_consumer is null || !IsOpen)
            return;
        try
        {
            await _channel.Channel.BasicCancelAsync(_consumer, cancellationToken: CancellationToken.None);
        }
        catch (Exception)
        {
            // The channel is lost, or the broker did not respond in time: the channel is closed next, and the broker takes its deliveries
            // back.
        }
    }

    /// <summary>Acknowledges finished deliveries and closes the channel: the broker takes the rest back.</summary>
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
        return _workers.TryAdd(new Arrival(this, _seen.Came(WireMessage.Of(delivery, _time.GetUtcNow()), _channel.Source), place))
            ? Task.CompletedTask
            : Acks.ReturnAsync(place).AsTask();
    }

    private Task EndAsync(string reason)
    {
        _ended.TrySetResult(reason);
        return Task.CompletedTask;
    }
}
