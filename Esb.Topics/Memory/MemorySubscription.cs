using Esb.Core.Topics;
using Microsoft.Extensions.Logging;

namespace Esb.Topics.Memory;

/// <summary>Delivers what waits in a queue to a handler, several at once.</summary>
internal sealed partial class MemorySubscription : ITopicSubscription
{
    // So that a handler which returns everything does not turn in a circle.
    private static readonly TimeSpan ReturnPause = TimeSpan.FromMilliseconds(100);

    private readonly Subscription _subscription;
    private readonly MemoryQueue _queue;
    private readonly DeliveryHandler _handler;
    private readonly MemoryDeadLetters _deadLetters;
    private readonly TimeProvider _time;
    private readonly ILogger _logger;
    private readonly CancellationTokenSource _stopping = new();
    private readonly Task _workers;

    public MemorySubscription(Subscription subscription, MemoryQueue queue, DeliveryHandler handler, MemoryDeadLetters deadLetters, TimeProvider time, ILogger logger)
    {
        (_subscription, _queue, _handler, _deadLetters, _time, _logger) = (subscription, queue, handler, deadLetters, time, logger);
        _workers = subscription.SingleActive ? WorkAloneAsync() : Task.WhenAll(Enumerable.Range(0, subscription.Concurrency).Select(_ => WorkAsync()));
    }

    public bool IsLive => !_workers.IsCompleted;

    public async ValueTask DisposeAsync()
    {
        await _stopping.CancelAsync();
        await _workers;
    }

    private async Task WorkAloneAsync()
    {
        try
        {
            await _queue.Active.WaitAsync(_stopping.Token);
        }
        catch (OperationCanceledException)
        {
            return;
        }

        await WorkAsync();
        _queue.Active.Release();
    }

    private async Task WorkAsync()
    {
        await Task.Yield(); // the subscriber does not wait for the first deliveries
        try
        {
            while (!_stopping.IsCancellationRequested) await DeliverAsync(await _queue.TakeAsync(_stopping.Token));
        }
        catch (OperationCanceledException) when (_stopping.IsCancellationRequested)
        {
            // Disposed while the queue was empty.
        }
    }

    private async Task DeliverAsync(MemoryDelivery delivery)
    {
        if (_time.GetTimestamp() >= delivery.Published.Expires)
        {
            delivery.Published.SettleOne();
            return;
        }

        switch (await HandleAsync(delivery))
        {
            case Settlement.Later later:
                DeliverLater(delivery with { Attempt = later.Attempt, Failures = later.Failures }, later.Delay);
                break;
            case Settlement.Divert divert:
                _deadLetters.Add(divert.Letter, delivery.Published);
                break;
            case Settlement.ReturnSettlement:
                await PauseAsync();
                _queue.PutBack(delivery);
                break;
            default:
                delivery.Published.SettleOne();
                break;
        }
    }

    private async Task<Settlement> HandleAsync(MemoryDelivery delivery)
    {
        try
        {
            return await _handler(delivery.ToDelivery(), CancellationToken.None);
        }
        catch (Exception ex)
        {
            LogReturned(delivery.Published.Message.Id, _subscription.Endpoint, ex);
            return Settlement.Return;
        }
    }

    // The timer holds itself by its callback's state until it has fired.
    private void DeliverLater(MemoryDelivery delivery, TimeSpan delay)
    {
        ITimer? timer = null;
        timer = _time.CreateTimer(
            _ =>
            {
                _queue.Add(delivery);
                timer?.Dispose();
            },
            null, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        timer.Change(delay, Timeout.InfiniteTimeSpan);
    }

    private async Task PauseAsync()
    {
        try
        {
            await Task.Delay(ReturnPause, _time, _stopping.Token);
        }
        catch (OperationCanceledException)
        {
            // Stopping: it goes back at once.
        }
    }

    [LoggerMessage(EventId = 1502, Level = LogLevel.Error, Message = "The handler of message {MessageId} at {Endpoint} failed; the message went back to its queue")]
    private partial void LogReturned(Guid messageId, string endpoint, Exception exception);
}
