using Esb.Core.Topics;
using Esb.Topics.RabbitMq.Connections;
using RabbitMQ.Client;
using RabbitMQ.Client.Events;

namespace Esb.Topics.RabbitMq.Publishing;

/// <summary>An open channel with publisher confirms, from its opening to its loss. Tracks the unconfirmed publishes itself.
/// Thread-safe.</summary>
/// <remarks>
/// The client can track them too, but adds a header and a contended lock for each message, and walks all outstanding messages for each
/// multiple confirm. The numbers agree because publishes begin in the order in which they are counted here
/// (https://www.rabbitmq.com/docs/confirms).
/// </remarks>
internal sealed class ConfirmSession : IAsyncDisposable
{
    private const string Lost = "the channel was closed before the confirm came";

    private static readonly TimeSpan SweepInterval = TimeSpan.FromMilliseconds(250);
    private static readonly CreateChannelOptions Options = new(
        publisherConfirmationsEnabled: true,
        publisherConfirmationTrackingEnabled: false
    );

    private readonly Lock _gate = new();
    private readonly Dictionary<ulong, PendingConfirm> _pending = [];
    private readonly List<PendingConfirm> _expired = [];
    private readonly IChannel _channel;
    private readonly BrokerLink _link;
    private readonly TimeProvider _time;
    private readonly ITimer _sweeper;
    private ulong _last;
    private ulong _settled;
    private bool _isBroken;

    private ConfirmSession(IChannel channel, BrokerLink link, TimeProvider time)
    {
        (_channel, _link, _time) = (channel, link, time);
        channel.BasicAcksAsync += (_, ack) => Settle(ack.DeliveryTag, ack.Multiple, PublishResult.Confirmed);
        channel.BasicNacksAsync += (_, nack) =>
            Settle(nack.DeliveryTag, nack.Multiple, PublishResult.Refused("a subscriber's queue is full"));
        channel.BasicReturnAsync += (_, returned) => Return(returned);
        channel.ChannelShutdownAsync += (_, _) => BreakAsync();
        _sweeper = time.CreateTimer(_ => Sweep(), null, SweepInterval, SweepInterval);
        if (!channel.IsOpen)
            Break(); // closed before the event handlers were attached
    }

    public bool IsOpen => !Volatile.Read(ref _isBroken) && _channel.IsOpen;

    /// <summary>True if the channel was closed because the target of a publish does not exist.</summary>
    public bool MissedTarget => _channel.CloseReason is { ReplyCode: Constants.NotFound };

    public static async Task<ConfirmSession> OpenAsync(BrokerLink link, TimeProvider time) =>
        new(await link.Connection.CreateChannelAsync(Options, CancellationToken.None), link, time);

    /// <summary>Publishes a message. The outcome is known by the deadline, plus at most the sweep interval.</summary>
    /// <param name="began">The timestamp at which the publisher began to wait.</param>
    /// <param name="deadline">The deadline, relative to <paramref name="began"/>.</param>
    public Task<PublishResult> PublishAsync(
        string exchange,
        string routingKey,
        bool mandatory,
        BasicProperties properties,
        ReadOnlyMemory<byte> body,
        long began,
        TimeSpan deadline
    )
    {
        var pending = new PendingConfirm(began, began + (long)(deadline.TotalSeconds * _time.TimestampFrequency));
        ValueTask writing;
        lock (_gate)
        {
            if (_isBroken)
                return Task.FromResult(PublishResult.Unknown(Lost));
            _pending.Add(++_last, pending);
            if (mandatory)
                // comes back with a return
                (properties.Headers ??= new Dictionary<string, object?>())[Constants.PublishSequenceNumberHeader] = (long)_last;

            // The client receives no token: a publish that is cancelled half-way corrupts its count of confirms.
            writing = _channel.BasicPublishAsync(exchange, routingKey, mandatory, properties, body, CancellationToken.None);
        }

        if (!writing.IsCompletedSuccessfully)
            _ = WatchAsync(writing);
        return pending.Task;
    }

    public async ValueTask DisposeAsync()
    {
        Break();
        await _sweeper.DisposeAsync();
        await _channel.DisposeAsync();
    }

    // The client may or may not have counted a failed publish: from here on the numbers would not agree.
    private async Task WatchAsync(ValueTask writing)
    {
        try
        {
            await writing;
        }
        catch (Exception)
        {
            Break(); // outstanding publishes end with an unknown outcome
        }
    }

    private Task Settle(ulong number, bool isMultiple, PublishResult result)
    {
        _link.CountConfirm();
        lock (_gate)
        {
            if (!isMultiple)
            {
                if (_pending.Remove(number, out var one))
                    one.TrySetResult(result);
                return Task.CompletedTask;
            }

            while (_settled < number)
            {
                if (_pending.Remove(++_settled, out var one))
                    one.TrySetResult(result);
            }
        }

        return Task.CompletedTask;
    }

    // The broker returns a message before it confirms it.
    private Task Return(BasicReturnEventArgs returned)
    {
        if (
            returned.BasicProperties.Headers?.TryGetValue(Constants.PublishSequenceNumberHeader, out var value) != true
            || value is not long number
        )
            return Task.CompletedTask;
        lock (_gate)
        {
            if (_pending.Remove((ulong)number, out var one))
                one.TrySetResult(ConfirmedChannel.NoQueue);
        }

        return Task.CompletedTask;
    }

    private void Sweep()
    {
        lock (_gate)
        {
            var now = _time.GetTimestamp();
            foreach (var (number, pending) in _pending)
            {
                if (pending.Deadline > now)
                    continue;
                _pending.Remove(number);
                _expired.Add(pending);
            }

            foreach (var pending in _expired)
            {
                _link.CountTimeout(pending.Began);
                pending.TrySetResult(PublishResult.Unknown("no confirm in time"));
            }

            _expired.Clear();
        }
    }

    private Task BreakAsync()
    {
        Break();
        return Task.CompletedTask;
    }

    private void Break()
    {
        lock (_gate)
        {
            _isBroken = true;
            foreach (var pending in _pending.Values)
                pending.TrySetResult(PublishResult.Unknown(Lost));
            _pending.Clear();
        }
    }
}
