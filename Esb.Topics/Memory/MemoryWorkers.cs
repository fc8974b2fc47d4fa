using Esb.Core.Messages;
using Esb.Core.Topics;
using Microsoft.Extensions.Logging;

namespace Esb.Topics.Memory;

/// <summary>Deliver the messages of an endpoint to a handler: concurrently, one at a time, or one at a time in each lane or in each of its
/// turns.</summary>
internal sealed partial class MemoryWorkers : IAsyncDisposable
{
    // Prevents a tight loop when a handler returns every message.
    private static readonly TimeSpan ReturnPause = TimeSpan.FromMilliseconds(100);

    private readonly MemoryEndpoint _endpoint;
    private readonly bool _answers;
    private readonly bool _publishes;
    private readonly Func<EsbMessage, string?>? _turnOf;
    private readonly int _atOnceInLane;
    private readonly DeliveryHandler _handler;
    private readonly MemoryDeadLetters _deadLetters;
    private readonly TimeProvider _time;
    private readonly ILogger _logger;
    private readonly CancellationTokenSource _stopping = new();
    private readonly SemaphoreSlim _gate;
    private readonly Task _workers;

    public MemoryWorkers(
        Subscription subscription,
        MemoryEndpoint endpoint,
        DeliveryHandler handler,
        MemoryDeadLetters deadLetters,
        TimeProvider time,
        ILogger logger
    )
    {
        (_endpoint, _answers, _publishes, _handler, _deadLetters, _time, _logger) = (
            endpoint,
            subscription.Answers,
            subscription.Publishes,
            handler,
            deadLetters,
            time,
            logger
        );
        (_turnOf, _atOnceInLane) = (subscription.TurnOf, subscription.Prefetch);
        _gate = new SemaphoreSlim(subscription.Concurrency);
        _workers =
            subscription.SingleActive || subscription.Lanes is not null
                ? Task.WhenAll(endpoint.Queues.Select(WorkAloneAsync))
                : Task.WhenAll(
                    Enumerable.Range(0, subscription.Concurrency).Select(_ => WorkAsync(endpoint.Queues[0], DeliverySource.Local))
                );
    }

    public bool AreWorking => !_workers.IsCompleted;

    public async ValueTask DisposeAsync()
    {
        await _stopping.CancelAsync();
        await _workers;
    }

    private async Task WorkAloneAsync(MemoryQueue queue, int lane)
    {
        try
        {
            await queue.Active.WaitAsync(_stopping.Token);
        }
        catch (OperationCanceledException)
        {
            return;
        }

        var source = new DeliverySource(lane, Guid.NewGuid(), CancellationToken.None);
        try
        {
            await (_turnOf is null ? WorkAsync(queue, source) : WorkInTurnsAsync(queue, source, _turnOf));
        }
        finally
        {
            queue.Active.Release();
        }
    }

    private async Task WorkAsync(MemoryQueue queue, DeliverySource source)
    {
        await Task.Yield(); // the subscriber does not wait for the first deliveries
        try
        {
            while (!_stopping.IsCancellationRequested)
            {
                var delivery = await queue.TakeAsync(_stopping.Token);
                if (await TryDeliverAsync(queue, delivery, source))
                    continue;
                await PauseAsync();
                queue.PutBack(delivery);
            }
        }
        catch (OperationCanceledException) when (_stopping.IsCancellationRequested)
        {
            // Disposed while the queue was empty.
        }
    }

    // Those of different turns at once. What is not settled in the end goes back to its place.
    private async Task WorkInTurnsAsync(MemoryQueue queue, DeliverySource source, Func<EsbMessage, string?> turnOf)
    {
        await Task.Yield();
        var turns = new LaneTurns(_atOnceInLane);
        var unsettled = new UnsettledDeliveries();
        try
        {
            while (true)
            {
                var place = unsettled.Add(await queue.TakeAsync(_stopping.Token));
                await turns.BeginAsync(
                    turnOf(place.Value.Published.Message),
                    () => DeliverInTurnAsync(queue, place, unsettled, source),
                    _stopping.Token
                );
            }
        }
        catch (OperationCanceledException) when (_stopping.IsCancellationRequested)
        {
            // Disposed.
        }
        finally
        {
            await turns.EndedAsync();
            foreach (var delivery in unsettled.LastFirst())
                queue.PutBack(delivery);
        }
    }

    private async Task DeliverInTurnAsync(
        MemoryQueue queue,
        LinkedListNode<MemoryDelivery> place,
        UnsettledDeliveries unsettled,
        DeliverySource source
    )
    {
        while (!await TryDeliverAsync(queue, place.Value, source))
        {
            await PauseAsync();
            _stopping.Token.ThrowIfCancellationRequested();
        }

        unsettled.Remove(place);
    }

    // Returns false if the delivery was returned.
    private async Task<bool> TryDeliverAsync(MemoryQueue queue, MemoryDelivery delivery, DeliverySource source)
    {
        if (_answers && _time.GetTimestamp() >= delivery.Published.Expires)
        {
            Settle(delivery);
            return true;
        }

        switch (await HandleAsync(delivery, source))
        {
            case Settlement.Later later:
                DeliverLater(queue, delivery with { Attempt = later.Attempt, Failures = later.Failures }, later.Delay);
                break;
            case Settlement.Divert divert:
                _deadLetters.Add(divert.Letter, delivery.Published);
                _endpoint.Leave();
                break;
            case Settlement.ReturnSettlement:
                return false;
            default:
                Settle(delivery);
                break;
        }

        return true;
    }

    private void Settle(MemoryDelivery delivery)
    {
        _endpoint.Leave();
        delivery.Published.SettleOne();
    }

    private async Task<Settlement> HandleAsync(MemoryDelivery delivery, DeliverySource source)
    {
        if (!await TryEnterAsync())
            return Settlement.Return;
        _endpoint.Begin();
        if (_publishes)
            MemoryMessage.Worked.Value = delivery.Published; // until this method ends
        try
        {
            return await _handler(delivery.ToDelivery(source), CancellationToken.None);
        }
        catch (Exception ex)
        {
            LogReturned(delivery.Published.Message.Id, _endpoint.Name, ex);
            return Settlement.Return;
        }
        finally
        {
            _endpoint.End();
            _gate.Release();
        }
    }

    private async Task<bool> TryEnterAsync()
    {
        try
        {
            await _gate.WaitAsync(_stopping.Token);
            return true;
        }
        catch (OperationCanceledException)
        {
            return false;
        }
    }

    // The timer keeps itself alive through the state of its callback until it has fired.
    private void DeliverLater(MemoryQueue queue, MemoryDelivery delivery, TimeSpan delay)
    {
        ITimer? timer = null;
        timer = _time.CreateTimer(
            _ =>
            {
                queue.Add(delivery);
                timer?.Dispose();
            },
            null,
            Timeout.InfiniteTimeSpan,
            Timeout.InfiniteTimeSpan
        );
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
            // Stopping: the message is returned at once.
        }
    }

    [LoggerMessage(
        EventId = 1502,
        Level = LogLevel.Error,
        Message = "The handler of message {MessageId} at {Endpoint} failed; the message went back to its queue"
    )]
    private partial void LogReturned(Guid messageId, string endpoint, Exception exception);
}
