using Esb.Core.Topics;
using RabbitMQ.Client;
using RabbitMQ.Client.Exceptions;

namespace Esb.Topics.RabbitMq;

/// <summary>Publishes over one channel, in the order of the calls, and waits for the broker's confirm. Reopens the channel when it was closed. Thread-safe.</summary>
internal sealed class ConfirmedChannel(BrokerConnection connection, TimeProvider time) : IAsyncDisposable
{
    // More would make the client slow: each confirm of several messages walks through all that are outstanding.
    private const int MaxUnconfirmed = 256;

    private static readonly TimeSpan Deadline = TimeSpan.FromSeconds(10);
    private static readonly CreateChannelOptions Options = new(publisherConfirmationsEnabled: true, publisherConfirmationTrackingEnabled: true);

    private readonly SemaphoreSlim _unconfirmed = new(MaxUnconfirmed, MaxUnconfirmed);
    private readonly SemaphoreSlim _opening = new(1, 1);
    private volatile IChannel? _channel;

    public async ValueTask<PublishResult> PublishAsync(string exchange, string routingKey, bool mandatory, BasicProperties properties, ReadOnlyMemory<byte> body)
    {
        if (connection.Reason is { } reason) return PublishResult.Refused(reason);
        if (!await _unconfirmed.WaitAsync(Deadline)) return PublishResult.Refused("the broker does not keep up");
        try
        {
            var channel = _channel is { IsOpen: true } open ? open : await OpenAsync();
            return channel is null
                ? PublishResult.Refused(connection.Reason ?? "broker away")
                : await PublishAsync(channel, exchange, routingKey, mandatory, properties, body);
        }
        finally
        {
            _unconfirmed.Release();
        }
    }

    public async ValueTask DisposeAsync()
    {
        if (_channel is { } channel) await channel.DisposeAsync();
        _unconfirmed.Dispose();
        _opening.Dispose();
    }

    private async Task<PublishResult> PublishAsync(
        IChannel channel, string exchange, string routingKey, bool mandatory, BasicProperties properties, ReadOnlyMemory<byte> body)
    {
        try
        {
            // The client gets no token: a publish that is cancelled half-way corrupts its count of confirms.
            await channel.BasicPublishAsync(exchange, routingKey, mandatory, properties, body, CancellationToken.None).AsTask().WaitAsync(Deadline, time);
            return PublishResult.Confirmed;
        }
        catch (PublishException ex)
        {
            return PublishResult.Refused(ex.IsReturn ? "no such queue" : "a subscriber's queue is full");
        }
        catch (TimeoutException)
        {
            await GiveUpAsync(channel);
            return PublishResult.Unknown("no confirm within 10 s");
        }
        catch (Exception ex) when (ex is OperationInterruptedException or IOException or ObjectDisposedException or InvalidOperationException)
        {
            return PublishResult.Unknown("the channel was closed before the confirm came");
        }
    }

    private async Task<IChannel?> OpenAsync()
    {
        await _opening.WaitAsync();
        try
        {
            if (_channel is { IsOpen: true } open) return open;
            if (connection.Current is not { } current) return null;
            if (_channel is { } closed) await closed.DisposeAsync();
            _channel = await current.CreateChannelAsync(Options, CancellationToken.None);
            return _channel;
        }
        catch (Exception ex) when (ex is OperationInterruptedException or IOException or ObjectDisposedException or OperationCanceledException or TimeoutException)
        {
            _channel = null;
            return null;
        }
        finally
        {
            _opening.Release();
        }
    }

    // A broker that does not confirm may be frozen, and the client may never complete the publish: a new connection is the way out.
    // One that is short of memory or disk goes on by itself, and would block a new connection just as well.
    private async Task GiveUpAsync(IChannel channel)
    {
        if (connection.IsBlocked) return;
        var isFirst = ReferenceEquals(Interlocked.CompareExchange(ref _channel, null, channel), channel); // others may wait for the same confirm
        if (isFirst && connection.Current is { } current) await BrokerConnection.AbandonAsync(current);
    }
}
