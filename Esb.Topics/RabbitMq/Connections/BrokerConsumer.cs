using Microsoft.Extensions.Logging;
using RabbitMQ.Client;
using RabbitMQ.Client.Events;

namespace Esb.Topics.RabbitMq.Connections;

/// <summary>Handles one delivery of a consumer. The token is cancelled when its channel is lost: the broker then redelivers on another
/// channel.</summary>
internal delegate Task BrokerDelivery(IChannel channel, BasicDeliverEventArgs delivery, CancellationToken over);

/// <summary>Maintains a consumer of this host on the broker: starts it on each new connection, and again when its channel is closed or its
/// queue disappears.</summary>
internal sealed partial class BrokerConsumer : IAsyncDisposable
{
    // The time for work to end after its cancellation.
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(5);

    private readonly Func<IChannel, CancellationToken, Task<ConsumerQueue>> _declare;
    private readonly BrokerDelivery _deliver;
    private readonly TimeProvider _time;
    private readonly ILogger _logger;
    private readonly CancellationTokenSource _stopping = new();
    private readonly Task _running;
    private Task _inHand = Task.CompletedTask;
    private TaskCompletionSource<string> _queue = NewWaiter();

    public BrokerConsumer(
        BrokerConnection connection,
        Func<IChannel, CancellationToken, Task<ConsumerQueue>> declare,
        BrokerDelivery deliver,
        TimeProvider time,
        ILogger logger
    )
    {
        (_declare, _deliver, _time, _logger) = (declare, deliver, time, logger);
        _running = BrokerLoop.RunAsync(connection, ConsumeAsync, time, _stopping.Token);
    }

    /// <summary>The queue being read; null while no queue is read.</summary>
    public string? Queue => Volatile.Read(ref _queue).Task is { IsCompletedSuccessfully: true } queue ? queue.Result : null;

    /// <summary>Returns the queue being read, once there is one.</summary>
    public Task<string> WaitForQueueAsync(TimeSpan timeout, CancellationToken cancellationToken) =>
        Volatile.Read(ref _queue).Task.WaitAsync(timeout, _time, cancellationToken);

    public async ValueTask DisposeAsync()
    {
        await _stopping.CancelAsync();
        await _running;
    }

    private async Task ConsumeAsync(IConnection connection, Backoff backoff, CancellationToken stopping)
    {
        try
        {
            await using var channel = await connection.CreateChannelAsync(cancellationToken: stopping);
            await ReadAsync(channel, backoff, stopping);
        }
        catch (Exception ex) when (!stopping.IsCancellationRequested)
        {
            LogInterrupted(BrokerFault.Describe(ex), ex);
        }
        finally
        {
            if (_queue.Task.IsCompleted)
                Volatile.Write(ref _queue, NewWaiter());
        }
    }

    private async Task ReadAsync(IChannel channel, Backoff backoff, CancellationToken stopping)
    {
        var queue = await _declare(channel, stopping);
        var ended = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        using var ending = CancellationTokenSource.CreateLinkedTokenSource(stopping);
        var over = ending.Token;
        var consumer = new AsyncEventingBasicConsumer(channel);
        consumer.ReceivedAsync += (_, delivery) => DeliverAsync(channel, delivery, ended, over);
        consumer.UnregisteredAsync += (_, _) => EndAsync(ended); // the queue was deleted
        channel.ChannelShutdownAsync += (_, _) => EndAsync(ended); // the consumer is notified only when its current delivery is done
        try
        {
            await channel.BasicQosAsync(0, queue.Prefetch, global: false, stopping);
            await channel.BasicConsumeAsync(queue.Name, autoAck: queue.Prefetch == 0, consumer, stopping);
            _queue.TrySetResult(queue.Name);
            backoff.Reset();
            await ended.Task.WaitAsync(stopping);
        }
        finally
        {
            await ending.CancelAsync();
            await _inHand.WaitAsync(Patience, _time, CancellationToken.None).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }
    }

    // The client notifies the channels of a lost connection one after the other, and waits for the current delivery of each. Work that does
    // not end by then is abandoned.
    private Task DeliverAsync(IChannel channel, BasicDeliverEventArgs delivery, TaskCompletionSource ended, CancellationToken over)
    {
        var work = WorkAsync(channel, delivery, ended, over);
        if (work.IsCompleted)
            return work;
        _inHand = work;
        return Task.WhenAny(work, ended.Task);
    }

    private async Task WorkAsync(IChannel channel, BasicDeliverEventArgs delivery, TaskCompletionSource ended, CancellationToken over)
    {
        try
        {
            await _deliver(channel, delivery, over);
        }
        catch (Exception ex) when (ex is not OperationCanceledException)
        {
            if (ended.TrySetResult())
                LogFailed(ex); // unacknowledged, the delivery comes again on the next channel
        }
    }

    private static TaskCompletionSource<string> NewWaiter() => new(TaskCreationOptions.RunContinuationsAsynchronously);

    private static Task EndAsync(TaskCompletionSource ended)
    {
        ended.TrySetResult();
        return Task.CompletedTask;
    }

    [LoggerMessage(EventId = 1513, Level = LogLevel.Warning, Message = "A consumer was interrupted: {Reason}; it starts again")]
    private partial void LogInterrupted(string reason, Exception exception);

    [LoggerMessage(EventId = 1524, Level = LogLevel.Error, Message = "A delivery failed; its consumer starts again")]
    private partial void LogFailed(Exception exception);
}

/// <summary>A queue to read.</summary>
/// <param name="Name">Its name.</param>
/// <param name="Prefetch">The maximum number of unacknowledged deliveries; 0 if deliveries are not acknowledged.</param>
internal sealed record ConsumerQueue(string Name, ushort Prefetch);
