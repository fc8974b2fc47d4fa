using Esb.Core.Topics;
using RabbitMQ.Client;
using RabbitMQ.Client.Exceptions;

namespace Esb.Topics.RabbitMq;

/// <summary>Publishes over one channel, in the order of the calls, and waits for the broker's confirm. Reopens the channel when it was closed. Thread-safe.</summary>
internal sealed class ConfirmedChannel(BrokerConnection connection, TimeProvider time) : IAsyncDisposable
{
    // More would make the client slow: each confirm of several messages walks through all that are outstanding.
    private const int MaxUnconfirmed = 256;

    /// <summary>The outcome of sending to a queue that does not exist.</summary>
    public static readonly PublishResult NoQueue = PublishResult.Refused("no such queue");

    private static readonly CreateChannelOptions Options = new(publisherConfirmationsEnabled: true, publisherConfirmationTrackingEnabled: true);

    private readonly SemaphoreSlim _unconfirmed = new(MaxUnconfirmed, MaxUnconfirmed);
    private readonly Lock _gate = new();
    private Task<OpenChannel?> _open = Task.FromResult<OpenChannel?>(null);

    /// <summary>Publishes; whatever happens, the outcome is known within the deadline.</summary>
    public async ValueTask<PublishResult> PublishAsync(
        string exchange, string routingKey, bool mandatory, BasicProperties properties, ReadOnlyMemory<byte> body, TimeSpan deadline)
    {
        if (connection.Obstacle is { } obstacle) return PublishResult.Refused(obstacle);
        var started = time.GetTimestamp();
        if (!await _unconfirmed.WaitAsync(deadline)) return PublishResult.Refused("the broker does not keep up");
        try
        {
            if (await OpenAsync(deadline - time.GetElapsedTime(started)) is not { } open) return PublishResult.Refused(connection.Obstacle ?? "the broker opens no channel");
            var confirm = open.Channel.BasicPublishAsync(exchange, routingKey, mandatory, properties, body, CancellationToken.None).AsTask(); // no token: see below
            return await ConfirmAsync(open, confirm, deadline - time.GetElapsedTime(started));
        }
        finally
        {
            _unconfirmed.Release();
        }
    }

    public async ValueTask DisposeAsync()
    {
        await ((Task)_open).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        if (_open is { IsCompletedSuccessfully: true, Result: { } open }) await open.Channel.DisposeAsync();
        _unconfirmed.Dispose();
    }

    // The client gets no token: a publish that is cancelled half-way corrupts its count of confirms. So the deadline waits on the confirm.
    private async Task<PublishResult> ConfirmAsync(OpenChannel open, Task confirm, TimeSpan left)
    {
        try
        {
            await confirm.WaitAsync(left > TimeSpan.Zero ? left : TimeSpan.Zero, time);
            open.Link.CountConfirm();
            return PublishResult.Confirmed;
        }
        catch (PublishException ex)
        {
            open.Link.CountConfirm();
            return ex.IsReturn ? NoQueue : PublishResult.Refused("a subscriber's queue is full");
        }
        catch (TimeoutException)
        {
            open.Link.CountTimeout();
            return PublishResult.Unknown("no confirm in time");
        }
        catch (Exception ex) when (ex is OperationInterruptedException or IOException or ObjectDisposedException or InvalidOperationException)
        {
            return PublishResult.Unknown("the channel was closed before the confirm came");
        }
    }

    // Callers at the same time share one attempt. Null: there is no connection to open it on, or no answer in time.
    private async ValueTask<OpenChannel?> OpenAsync(TimeSpan left)
    {
        Task<OpenChannel?> opening;
        lock (_gate)
        {
            if (_open is { IsCompletedSuccessfully: true, Result.Channel.IsOpen: true }) return _open.Result;
            if (_open.IsCompleted) _open = ReopenAsync(_open.IsCompletedSuccessfully ? _open.Result : null);
            opening = _open;
        }

        try
        {
            return await opening.WaitAsync(left > TimeSpan.Zero ? left : TimeSpan.Zero, time);
        }
        catch (TimeoutException)
        {
            return null;
        }
    }

    private async Task<OpenChannel?> ReopenAsync(OpenChannel? closed)
    {
        try
        {
            if (closed is not null) await closed.Channel.DisposeAsync();
            if (connection.Link is not { } link) return null;
            if (closed?.Channel.CloseReason is { ReplyCode: Constants.NotFound }) await connection.PrepareAsync(link); // somebody deleted what was declared
            return new OpenChannel(await link.Connection.CreateChannelAsync(Options, CancellationToken.None), link);
        }
        catch (Exception ex) when (ex is OperationInterruptedException or IOException or ObjectDisposedException or OperationCanceledException or TimeoutException)
        {
            return null;
        }
    }

    private sealed record OpenChannel(IChannel Channel, BrokerLink Link);
}
