using Microsoft.Extensions.Logging;
using RabbitMQ.Client;
using RabbitMQ.Client.Events;

namespace Esb.Topics.RabbitMq.Connections;

/// <summary>Works on one delivery of a consumer, until the token says that its channel is gone: then it comes again on another.</summary>
internal delegate Task BrokerDelivery(IChannel channel, BasicDeliverEventArgs delivery, CancellationToken over);

/// <summary>Keeps a consumer of our own on the broker: starts it on each new connection, and again when its channel is closed or its queue goes.</summary>
internal sealed partial class BrokerConsumer : IAsyncDisposable
{
    // For work that was told to end.
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
        BrokerConnection connection, Func<IChannel, CancellationToken, Task<ConsumerQueue>> declare, BrokerDelivery deliver, TimeProvider time, ILogger logger)
    {
        (_declare, _deliver, _time, _logger) = (declare, deliver, time, logger);
        _running = BrokerLoop.RunAsync(connection, ConsumeAsync, time, _stopping.Token);
    }

    /// <summary>The queue that is read; null while none is.</summary>
    public string? Queue => Volatile.Read(ref _queue).Task is { IsCompletedSuccessfully: true } queue ? queue.Result : null;

    /// <summary>The queue that is read, once one is.</summary>
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
            if (_queue.Task.IsCompleted) Volatile.Write(ref _queue, NewWaiter());
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
        channel.ChannelShutdownAsync += (_, _) => EndAsync(ended); // the consumer hears of it only when what it has in hand is done
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

    // The client tells the channels of a lost connection one after the other, and waits at each for what it has in hand: what does not end then is left to itself.
    private Task DeliverAsync(IChannel channel, BasicDeliverEventArgs delivery, TaskCompletionSource ended, CancellationToken over)
    {
        var work = WorkAsync(channel, delivery, ended, over);
        if (work.IsCompleted) return work;
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
            if (ended.TrySetResult()) LogFailed(ex); // unacknowledged, it comes again on the next channel
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

/// <summary>A queue to be read.</summary>
/// <param name="Name">Its name.</param>
/// <param name="Prefetch">Unacknowledged deliveries at a time; 0 where nothing is acknowledged.</param>
internal sealed record ConsumerQueue(string Name, ushort Prefetch);
