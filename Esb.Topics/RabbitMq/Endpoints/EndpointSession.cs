using System.Threading.Channels;
using Esb.Core.Brokers;
using Esb.Topics.RabbitMq.Connections;
using Esb.Topics.RabbitMq.Receiving;
using RabbitMQ.Client;
using RabbitMQ.Client.Events;

namespace Esb.Topics.RabbitMq.Endpoints;

/// <summary>One channel over which an endpoint reads its queue, from its opening to its loss, a rest or the stop. Thread-safe.</summary>
internal sealed class EndpointSession : IAsyncDisposable
{
    private static readonly TimeSpan LongestPause = TimeSpan.FromSeconds(30);

    // Work in progress may end after the channel is lost: at worst its message is handled twice, under one id.
    private static readonly TimeSpan Grace = TimeSpan.FromSeconds(5);

    private readonly IChannel _channel;
    private readonly BrokerReading _reading;
    private readonly TimeProvider _time;
    private readonly GroupedAcks _acks;
    private readonly Channel<Arrived> _waiting = Channel.CreateUnbounded<Arrived>(); // bounded by the prefetch
    private readonly TaskCompletionSource<string?> _ended = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly CancellationTokenSource _leaving = new();
    private readonly CancellationTokenSource _aborting;
    private readonly CancellationTokenRegistration _stop;
    private Task _workers = Task.CompletedTask;
    private string? _consumer;

    private EndpointSession(
        IChannel channel,
        BrokerReading reading,
        TimeProvider time,
        CancellationToken stopping,
        CancellationToken aborting
    )
    {
        (_channel, _reading, _time) = (channel, reading, time);
        _acks = new GroupedAcks(channel, (ushort)reading.Prefetch, time);
        _aborting = CancellationTokenSource.CreateLinkedTokenSource(aborting);
        _stop = stopping.Register(() => _ended.TrySetResult(null));
    }

    /// <summary>Completes when the session has to end: with the reason if it was lost, with null for a rest and for the stop.</summary>
    public Task<string?> Ended => _ended.Task;

    public static async Task<EndpointSession> OpenAsync(
        IConnection connection,
        BrokerReading reading,
        TimeProvider time,
        CancellationToken stopping,
        CancellationToken aborting
    )
    {
        var channel = await connection.CreateChannelAsync(cancellationToken: stopping);
        var session = new EndpointSession(channel, reading, time, stopping, aborting);
        try
        {
            await session.ConsumeAsync(stopping);
            return session;
        }
        catch
        {
            await session.DisposeAsync();
            throw;
        }
    }

    /// <summary>Handles no further deliveries, and closes the channel once those in progress have ended: the broker takes the rest
    /// back.</summary>
    /// <param name="waits">True to wait for them without a limit of its own.</param>
    public async Task LeaveAsync(bool waits)
    {
        if (_consumer is not null && _channel.IsOpen)
            await CancelConsumerAsync();
        _waiting.Writer.TryComplete();
        await _leaving.CancelAsync();
        if (!waits)
            _aborting.CancelAfter(Grace);
        await _workers;
        await _acks.DrainAsync();
    }

    public async ValueTask DisposeAsync()
    {
        _waiting.Writer.TryComplete();
        await _leaving.CancelAsync();
        await _workers;
        await _stop.DisposeAsync();
        await _acks.DisposeAsync();
        await _channel.CloseAsync(Constants.ReplySuccess, "deliveries returned", abort: true, CancellationToken.None);
        await _channel.DisposeAsync();
        _leaving.Dispose();
        _aborting.Dispose();
    }

    private async Task ConsumeAsync(CancellationToken cancellationToken)
    {
        var consumer = new AsyncEventingBasicConsumer(_channel);
        consumer.ReceivedAsync += TakeAsync;
        consumer.UnregisteredAsync += (_, _) => EndAsync("its queue was deleted");
        _channel.ChannelShutdownAsync += (_, shutdown) => EndAsync(BrokerFault.Describe(shutdown));
        await _channel.BasicQosAsync(0, (ushort)_reading.Prefetch, global: false, cancellationToken);
        _workers = Task.WhenAll(Enumerable.Range(0, _reading.Concurrency).Select(_ => Task.Run(WorkAsync, CancellationToken.None)));
        _consumer = await _channel.BasicConsumeAsync(_reading.Layout.Queue!.Name, autoAck: false, consumer, cancellationToken);
    }

    private async Task CancelConsumerAsync()
    {
        try
        {
            await _channel.BasicCancelAsync(_consumer!, cancellationToken: CancellationToken.None);
        }
        catch (Exception)
        {
            // The channel is lost, or the broker did not respond in time: it is closed next.
        }
    }

    private Task TakeAsync(object sender, BasicDeliverEventArgs delivery)
    {
        // otherwise the channel is closed soon
        _waiting.Writer.TryWrite(new Arrived(EndpointWire.Read(delivery), _acks.Came(delivery.DeliveryTag)));
        return Task.CompletedTask;
    }

    private async Task WorkAsync()
    {
        while (await _waiting.Reader.WaitToReadAsync())
        {
            while (!_leaving.IsCancellationRequested && _waiting.Reader.TryRead(out var arrived))
                await HandleAsync(arrived);
            if (_leaving.IsCancellationRequested)
                return;
        }
    }

    private async Task HandleAsync(Arrived arrived)
    {
        switch (await _reading.Handle(arrived.Delivery, _aborting.Token))
        {
            case DeliveryVerdict.Done:
                await _acks.DoneAsync(arrived.Place);
                break;
            case DeliveryVerdict.Again when _reading.Concurrency == 1:
                await RetryAsync(arrived); // in place: those behind it keep their order
                break;
            case DeliveryVerdict.Again:
                _ = PostponeAsync(arrived); // ends with the session; the prefetch bounds their number
                break;
            default:
                _ended.TrySetResult(null);
                break;
        }
    }

    private async Task RetryAsync(Arrived arrived)
    {
        while (true)
        {
            if (!await PauseAsync(arrived))
                return;
            arrived = arrived.Failed();
            var verdict = await _reading.Handle(arrived.Delivery, _aborting.Token);
            if (verdict == DeliveryVerdict.Done)
                await _acks.DoneAsync(arrived.Place);
            if (verdict == DeliveryVerdict.Rest)
                _ended.TrySetResult(null);
            if (verdict != DeliveryVerdict.Again)
                return;
        }
    }

    private async Task PostponeAsync(Arrived arrived)
    {
        if (await PauseAsync(arrived))
            _waiting.Writer.TryWrite(arrived.Failed());
    }

    // Returns false if the session ends meanwhile: the broker then delivers it again.
    private async Task<bool> PauseAsync(Arrived arrived)
    {
        var pause = TimeSpan.FromSeconds(Math.Min(LongestPause.TotalSeconds, 1 << Math.Min(arrived.Delivery.Failures, 5)));
        await Task.Delay(pause, _time, _leaving.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        return !_leaving.IsCancellationRequested;
    }

    private Task EndAsync(string reason)
    {
        _ended.TrySetResult(reason);
        return Task.CompletedTask;
    }

    private sealed record Arrived(QueueDelivery Delivery, LinkedListNode<ulong> Place)
    {
        public Arrived Failed() => this with { Delivery = Delivery with { Failures = Delivery.Failures + 1 } };
    }
}
