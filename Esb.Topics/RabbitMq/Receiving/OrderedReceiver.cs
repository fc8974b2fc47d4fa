using Esb.Core.Topics;
using Microsoft.Extensions.Logging;
using RabbitMQ.Client;

namespace Esb.Topics.RabbitMq.Receiving;

/// <summary>Receives in order: the one queue of an endpoint, or each of its lanes, with a single active consumer over all hosts.</summary>
/// <remarks>Over channels of our own: the bus could not give a message back in its order, nor say which channel it lost (docs/adr/0003).</remarks>
internal sealed class OrderedReceiver : IReceiver
{
    private readonly Subscription _subscription;
    private readonly EndpointSetup _setup;
    private readonly LaneConsumer[] _lanes;
    private readonly SemaphoreSlim _gate;
    private readonly ReceiverState _state;
    private readonly CancellationTokenSource _stopping = new();
    private readonly Task _running;

    public OrderedReceiver(
        Subscription subscription, RabbitMqNames names, BrokerConnection connection, EndpointSetup setup, DeliveryWork work, FreezeWatch freezes, TimeProvider time, ILogger logger)
    {
        (_subscription, _setup) = (subscription, setup);
        _gate = new SemaphoreSlim(subscription.Lanes is null ? 1 : subscription.Concurrency);
        _lanes = [.. names.LanesOf(subscription).Select((queue, number) => new LaneConsumer(new Lane(number, queue, (ushort)subscription.Prefetch), work, _gate, freezes, time, logger))];
        _state = new ReceiverState(subscription.Endpoint, logger);
        _running = BrokerLoop.RunAsync(connection, ConsumeAsync, time, _stopping.Token);
    }

    public bool IsLive => _lanes.All(lane => lane.IsLive);

    public string? Reason => IsLive ? null : _state.Reason ?? "not consuming";

    public Task WaitForFirstAttemptAsync(CancellationToken cancellationToken) => _state.FirstAttempt.WaitAsync(cancellationToken);

    public async ValueTask DisposeAsync()
    {
        await _stopping.CancelAsync();
        await _running;
        _gate.Dispose();
        _stopping.Dispose();
    }

    private async Task ConsumeAsync(IConnection connection, Backoff backoff, CancellationToken stopping)
    {
        using var ending = CancellationTokenSource.CreateLinkedTokenSource(stopping);
        var lanes = new List<Task>();
        try
        {
            await _setup.ApplyAsync(connection, _subscription, stopping);
            lanes.AddRange(_lanes.Select(lane => lane.RunAsync(connection, () => Note(backoff), ending.Token)));
            await await Task.WhenAny(lanes); // one that cannot go on: all begin anew
            if (!stopping.IsCancellationRequested) _state.IsInterrupted("broker away");
        }
        catch (Exception ex) when (!stopping.IsCancellationRequested)
        {
            _state.IsInterrupted(ex);
        }
        finally
        {
            await ending.CancelAsync();
            await Task.WhenAll(lanes).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing); // the first failure has been told
        }
    }

    private void Note(Backoff backoff)
    {
        if (!IsLive) return;
        backoff.Reset();
        _state.Consumes();
    }
}
