using Esb.Core.Topics;
using Esb.Topics.RabbitMq.Farm;
using MassTransit;
using Microsoft.Extensions.Logging;
using RabbitMQ.Client;

namespace Esb.Topics.RabbitMq.Receiving;

/// <summary>Receives in no promised order: connects a receive endpoint of the bus, and looks again and again whether the broker agrees that it consumes.</summary>
internal sealed partial class BusReceiver : IReceiver
{
    private static readonly TimeSpan ReadyDeadline = TimeSpan.FromSeconds(10);
    private static readonly TimeSpan StopDeadline = TimeSpan.FromSeconds(5);
    private static readonly TimeSpan WatchInterval = TimeSpan.FromSeconds(3);

    private readonly Subscription _subscription;
    private readonly ReceiverContext _context;
    private readonly DeliveryWork _work;
    private readonly EndpointPresence _presence;
    private readonly string _queue;
    private readonly ConsumerWatch _watch;
    private readonly ILogger _logger;
    private readonly ReceiverState _state;
    private readonly CancellationTokenSource _stopping = new();
    private readonly Task _running;
    private volatile ConsumerChannel? _consumer;

    public BusReceiver(Subscription subscription, ReceiverContext context, DeliveryWork work, EndpointPresence presence)
    {
        (_subscription, _context, _work, _presence) = (subscription, context, work, presence);
        _queue = context.Names.Endpoint(subscription.Endpoint);
        _watch = new ConsumerWatch(subscription.Endpoint, _queue, context.Connection, context.Farm.Members);
        _logger = context.Logger;
        _state = new ReceiverState(subscription.Endpoint, _logger);
        _running = BrokerLoop.RunAsync(context.Connection, ConsumeAsync, context.Time, _stopping.Token);
    }

    public bool IsLive => _consumer?.IsOpen == true;

    public string? Reason => IsLive ? null : _state.Reason ?? "not consuming";

    public Task WaitForFirstAttemptAsync(CancellationToken cancellationToken) => _state.FirstAttempt.WaitAsync(cancellationToken);

    public async ValueTask DisposeAsync()
    {
        await _stopping.CancelAsync();
        await _running;
    }

    private async Task ConsumeAsync(IConnection connection, Backoff backoff, CancellationToken stopping)
    {
        HostReceiveEndpointHandle? endpoint = null;
        var filter = new DeliveryFilter(_work, _context.Time);
        try
        {
            await _context.Setup.ApplyAsync(connection, _subscription, stopping);
            endpoint = await _context.Bus.ConnectAsync(_queue, _subscription.Concurrency, _subscription.Prefetch, filter, stopping);
            await endpoint.Ready.WaitAsync(ReadyDeadline, _context.Time, stopping);
            backoff.Reset();
            _presence.Consumes();
            _state.IsInterrupted(await _watch.RunAsync(filter, isThere => Note(filter.Channel, isThere), () => Task.Delay(WatchInterval, _context.Time, stopping), stopping));
        }
        catch (Exception ex)
        {
            if (!stopping.IsCancellationRequested) _state.IsInterrupted(ex, backoff); // a bus whose start is interrupted fails in many ways
        }
        finally
        {
            _consumer = null;
            _presence.Rests();
            if (endpoint is not null) await StopAsync(endpoint, filter, lettingFinish: stopping.IsCancellationRequested);
        }
    }

    private void Note(ConsumerChannel consumer, bool isThere)
    {
        _consumer = isThere ? consumer : null;
        if (isThere) _state.Consumes();
    }

    // Disposed, it lets the deliveries under way finish. Otherwise their channel is lost: they are told to end, and the broker delivers them again.
    private async Task StopAsync(HostReceiveEndpointHandle endpoint, DeliveryFilter filter, bool lettingFinish)
    {
        try
        {
            var stopped = endpoint.StopAsync(CancellationToken.None); // first, so that the bus begins no further delivery
            await (lettingFinish ? filter.StopAsync() : filter.AbortAsync());
            await stopped.WaitAsync(StopDeadline, _context.Time);
        }
        catch (Exception ex)
        {
            // Seen where the broker closed the channel under a delivery: the bus then waits for what can never come.
            LogNotStopped(_subscription.Endpoint, ex.Message);
            _context.Bus.Retire();
        }
    }

    [LoggerMessage(EventId = 1523, Level = LogLevel.Warning, Message = "The receive endpoint of {Endpoint} does not stop: {Reason} Another takes its place")]
    private partial void LogNotStopped(string endpoint, string reason);
}
