using Esb.Core.Topics;
using MassTransit;
using Microsoft.Extensions.Logging;
using RabbitMQ.Client;
using RabbitMQ.Client.Exceptions;

namespace Esb.Topics.RabbitMq;

/// <summary>Keeps an endpoint's queue consumed: declares it, connects a receive endpoint, and looks again and again whether the broker agrees.</summary>
internal sealed partial class RabbitMqSubscription : ITopicSubscription
{
    private static readonly TimeSpan ReadyDeadline = TimeSpan.FromSeconds(10);
    private static readonly TimeSpan StopDeadline = TimeSpan.FromMinutes(15);
    private static readonly TimeSpan WatchInterval = TimeSpan.FromSeconds(3);

    private readonly Subscription _subscription;
    private readonly BrokerConnection _connection;
    private readonly ReceiveBus _bus;
    private readonly RabbitMqNames _names;
    private readonly RabbitMqTopology _topology;
    private readonly QueueBindings _bindings;
    private readonly Func<DeliveryFilter> _newFilter;
    private readonly TimeProvider _time;
    private readonly ILogger _logger;
    private readonly CancellationTokenSource _stopping = new();
    private readonly TaskCompletionSource _tried = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly Task _running;
    private volatile ConsumerChannel? _consumer;

    public RabbitMqSubscription(
        Subscription subscription,
        BrokerConnection connection,
        ReceiveBus bus,
        RabbitMqNames names,
        RabbitMqTopology topology,
        QueueBindings bindings,
        Func<DeliveryFilter> newFilter,
        TimeProvider time,
        ILogger logger)
    {
        (_subscription, _connection, _bus, _names) = (subscription, connection, bus, names);
        (_topology, _bindings, _newFilter, _time, _logger) = (topology, bindings, newFilter, time, logger);
        _running = RunAsync(_stopping.Token);
    }

    public bool IsLive => _consumer?.IsOpen == true;

    private string Queue => _names.Endpoint(_subscription.Endpoint);

    /// <summary>Waits until the first attempt to consume has succeeded or failed.</summary>
    public Task WaitForFirstAttemptAsync(CancellationToken cancellationToken) => _tried.Task.WaitAsync(cancellationToken);

    public async ValueTask DisposeAsync()
    {
        await _stopping.CancelAsync();
        await _running;
    }

    private async Task RunAsync(CancellationToken stopping)
    {
        var backoff = new Backoff(_time);
        try
        {
            while (true)
            {
                await ConsumeAsync(await _connection.WaitAsync(stopping), backoff, stopping);
                await backoff.WaitAsync(stopping);
            }
        }
        catch (OperationCanceledException) when (stopping.IsCancellationRequested)
        {
            // Disposed.
        }
    }

    private async Task ConsumeAsync(IConnection connection, Backoff backoff, CancellationToken stopping)
    {
        HostReceiveEndpointHandle? endpoint = null;
        var filter = _newFilter();
        try
        {
            await DeclareAsync(connection, stopping);
            endpoint = await _bus.ConnectAsync(Queue, _subscription.SingleActive ? 1 : _subscription.Concurrency, _subscription.Prefetch, filter, stopping);
            await endpoint.Ready.WaitAsync(ReadyDeadline, _time, stopping);
            backoff.Reset();
            LogConsuming(_subscription.Endpoint);
            await WatchAsync(filter.Channel, stopping);
        }
        catch (Exception ex) when (!stopping.IsCancellationRequested)
        {
            LogInterrupted(_subscription.Endpoint, BrokerFault.Describe(ex));
        }
        finally
        {
            _consumer = null;
            _tried.TrySetResult();
            if (endpoint is not null) await StopAsync(endpoint, filter, stopping.IsCancellationRequested);
        }
    }

    private async Task DeclareAsync(IConnection connection, CancellationToken cancellationToken)
    {
        await using var channel = await connection.CreateChannelAsync(cancellationToken: cancellationToken);
        await _topology.DeclareEndpointAsync(channel, _subscription, cancellationToken);
        await _bindings.ApplyAsync(channel, _subscription, cancellationToken);
    }

    // Ends when the queue is without our consumer twice in a row: one that fell silent does not say so.
    private async Task WatchAsync(ConsumerChannel consumer, CancellationToken stopping)
    {
        for (var misses = 0; misses < 2;)
        {
            misses = await IsConsumedAsync(consumer, stopping) ? 0 : misses + 1;
            _consumer = misses == 0 ? consumer : null;
            _tried.TrySetResult();
            await Task.Delay(WatchInterval, _time, stopping);
        }
    }

    private async Task<bool> IsConsumedAsync(ConsumerChannel consumer, CancellationToken stopping)
    {
        if (!consumer.IsOpen || _connection.Current is not { } connection) return consumer.IsOpen;
        try
        {
            await using var channel = await connection.CreateChannelAsync(cancellationToken: stopping);
            return (await channel.QueueDeclarePassiveAsync(Queue, stopping)).ConsumerCount > 0;
        }
        catch (OperationInterruptedException ex) when (ex.ShutdownReason?.ReplyCode == Constants.NotFound)
        {
            return false; // the queue was deleted
        }
        catch (Exception) when (!stopping.IsCancellationRequested)
        {
            return consumer.IsOpen; // the connection that asks is lost, not the one that consumes
        }
    }

    // Disposed, it lets the deliveries under way finish. Otherwise their channel is lost: they end now, and the broker delivers them again.
    private async Task StopAsync(HostReceiveEndpointHandle endpoint, DeliveryFilter filter, bool lettingFinish)
    {
        try
        {
            using var deadline = new CancellationTokenSource(StopDeadline, _time);
            var stopped = endpoint.StopAsync(deadline.Token); // first, so that the bus begins no further delivery
            await (lettingFinish ? filter.StopAsync() : filter.AbortAsync());
            await stopped;
            await filter.ClosedAsync();
        }
        catch (Exception ex)
        {
            LogNotStopped(_subscription.Endpoint, ex);
        }
    }

    [LoggerMessage(EventId = 1521, Level = LogLevel.Information, Message = "Endpoint {Endpoint} consumes its queue")]
    private partial void LogConsuming(string endpoint);

    [LoggerMessage(EventId = 1522, Level = LogLevel.Warning, Message = "Endpoint {Endpoint} does not consume its queue: {Reason}; trying again until it does")]
    private partial void LogInterrupted(string endpoint, string reason);

    [LoggerMessage(EventId = 1523, Level = LogLevel.Warning, Message = "The receive endpoint of {Endpoint} did not stop cleanly")]
    private partial void LogNotStopped(string endpoint, Exception exception);
}
