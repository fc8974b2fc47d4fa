using Esb.Core.Topics;
using Esb.Topics.RabbitMq.Connections;
using RabbitMQ.Client;
using RabbitMQ.Client.Exceptions;

namespace Esb.Topics.RabbitMq.Publishing;

/// <summary>Publishes over one channel and waits for the broker's confirm. Reopens a closed channel. Thread-safe; a caller that needs an
/// order waits for each confirm.</summary>
internal sealed class ConfirmedChannel(BrokerConnection connection, TimeProvider time) : IAsyncDisposable
{
    // The most messages that a host holds for a broker that does not keep up.
    private const int MaxUnconfirmed = 256;

    /// <summary>The outcome of a publish to a queue that does not exist.</summary>
    public static readonly PublishResult NoQueue = PublishResult.Refused("no such queue");

    private readonly SemaphoreSlim _unconfirmed = new(MaxUnconfirmed, MaxUnconfirmed);
    private readonly Lock _gate = new();
    private Task<ConfirmSession?> _open = Task.FromResult<ConfirmSession?>(null);

    /// <summary>Publishes a message; the outcome is known within the deadline in any case.</summary>
    public async ValueTask<PublishResult> PublishAsync(
        string exchange,
        string routingKey,
        bool mandatory,
        BasicProperties properties,
        ReadOnlyMemory<byte> body,
        TimeSpan deadline
    )
    {
        if (connection.Obstacle is { } obstacle)
            return PublishResult.Refused(obstacle);
        var started = time.GetTimestamp();
        if (!await _unconfirmed.WaitAsync(deadline))
            return PublishResult.Refused("the broker does not keep up");
        try
        {
            if (await OpenAsync(deadline - time.GetElapsedTime(started)) is not { } open)
                return PublishResult.Refused(connection.Obstacle ?? "the broker opens no channel");
            return await open.PublishAsync(exchange, routingKey, mandatory, properties, body, started, deadline);
        }
        finally
        {
            _unconfirmed.Release();
        }
    }

    public async ValueTask DisposeAsync()
    {
        await ((Task)_open).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        if (_open is { IsCompletedSuccessfully: true, Result: { } open })
            await open.DisposeAsync();
        _unconfirmed.Dispose();
    }

    // Concurrent callers share one attempt. Returns null if there is no connection, or no response in time.
    private async ValueTask<ConfirmSession?> OpenAsync(TimeSpan left)
    {
        Task<ConfirmSession?> opening;
        lock (_gate)
        {
            if (_open is { IsCompletedSuccessfully: true, Result.IsOpen: true })
                return _open.Result;
            if (_open.IsCompleted)
                _open = ReopenAsync(_open.IsCompletedSuccessfully ? _open.Result : null);
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

    private async Task<ConfirmSession?> ReopenAsync(ConfirmSession? closed)
    {
        try
        {
            if (closed is not null)
                await closed.DisposeAsync();
            if (connection.Link is not { } link)
                return null;
            if (closed?.MissedTarget == true)
                await connection.PrepareAsync(link); // a declared queue or exchange was deleted
            return await ConfirmSession.OpenAsync(link, time);
        }
        catch (Exception ex)
            when (ex
                    is OperationInterruptedException
                        or IOException
                        or ObjectDisposedException
                        or OperationCanceledException
                        or TimeoutException
            )
        {
            return null;
        }
    }
}
