using Esb.Core.Topics;
using Esb.Topics.RabbitMq.Farm;
using Esb.Topics.RabbitMq.Topology;
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
    private volatile ChannelSession? _confirmed;
    private ChannelSession? _prepared;

    public BusReceiver(Subscription subscription, ReceiverContext context, DeliveryWork work, EndpointPresence presence)
    {
        (_subscription, _context, _work, _presence) = (subscription, context, work, presence);
        _queue = context.Names.Endpoint(subscription.Endpoint);
        _watch = new ConsumerWatch(subscription.Endpoint, _queue, context.Connection, context.Farm.Members);
        _logger = context.Logger;
        _state = new ReceiverState(subscription.Endpoint, _logger);
        _running = BrokerLoop.RunAsync(context.Connection, ConsumeAsync, context.Time, _stopping.Token);
    }

    public bool IsLive => _confirmed is { } session && _consumer?.Open == session;

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
            (_consumer, _prepared) = (filter.Channel, filter.Channel.Open);
            _state.IsInterrupted(await _watch.RunAsync(filter, session => ConfirmAsync(session, stopping), () => Task.Delay(WatchInterval, _context.Time, stopping), stopping));
        }
        catch (Exception ex)
        {
            if (!stopping.IsCancellationRequested) _state.IsInterrupted(ex, backoff); // a bus whose start is interrupted fails in many ways
        }
        finally
        {
            _confirmed = null;
            _presence.Rests();
            if (endpoint is not null) await StopAsync(endpoint, filter, lettingFinish: stopping.IsCancellationRequested);
        }
    }

    // After a loss the bus comes back by itself, and takes the queue as it finds it: it may have been made anew meanwhile, otherwise or without bindings.
    private async Task ConfirmAsync(ChannelSession? session, CancellationToken stopping)
    {
        if (session is not null && session != _prepared)
        {
            if (!await TryPrepareAsync(stopping)) return;
            _prepared = session;
        }

        _confirmed = session;
        if (session is not null) _state.Consumes();
    }

    private async Task<bool> TryPrepareAsync(CancellationToken stopping)
    {
        if (_context.Connection.Current is not { } connection) return false;
        try
        {
            await _context.Setup.ApplyAsync(connection, _subscription, stopping);
            return true;
        }
        catch (Exception ex) when (ex is not QueueDriftException && !stopping.IsCancellationRequested)
        {
            return false; // the broker went again: the next look tells
        }
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
