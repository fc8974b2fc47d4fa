using System.Collections.Concurrent;
using MassTransit;
using MassTransit.Logging;
using Microsoft.Extensions.Logging;

namespace Esb.Topics.RabbitMq.Receiving;

/// <summary>The bus that runs receive endpoints. It names, declares and publishes nothing of ours. Thread-safe.</summary>
internal sealed class ReceiveBus(RabbitMqAddress address, string connectionName, TimeProvider time, ILoggerFactory loggers) : IAsyncDisposable
{
    private static readonly TimeSpan StartDeadline = TimeSpan.FromSeconds(30);
    private static readonly TimeSpan StopDeadline = TimeSpan.FromSeconds(10); // its endpoints have stopped before

    private readonly SemaphoreSlim _starting = new(1, 1);
    private readonly ConcurrentBag<IBusControl> _retired = [];
    private IBusControl? _bus;

    /// <summary>Starts to receive from a queue that exists; its handle says when.</summary>
    /// <exception cref="OperationCanceledException">Also where the bus itself does not start within 30 s: the others, who wait for it, shall not wait for ever.</exception>
    public async Task<HostReceiveEndpointHandle> ConnectAsync(string queue, int concurrency, int prefetch, DeliveryFilter filter, CancellationToken cancellationToken)
    {
        var bus = await StartedAsync(cancellationToken);
        return bus.ConnectReceiveEndpoint(queue, endpoint =>
        {
            var settings = (IRabbitMqReceiveEndpointConfigurator)endpoint;
            settings.BindQueue = false; // the queue is ours: neither declared nor bound by the bus
            settings.ConfigureConsumeTopology = false;
            settings.PublishFaults = false;
            settings.ConcurrentMessageLimit = concurrency;
            settings.PrefetchCount = Math.Max(prefetch, concurrency);
            settings.ConfigureChannel(pipe => pipe.UseFilter(filter.Channel));
            settings.ConfigureReceive(pipe => pipe.UseFilter(filter));
            endpoint.ConnectReceiveEndpointObserver(filter.Channel);
        });
    }

    /// <summary>Gives the bus up for what is connected from now on: it has an endpoint that does not stop, whose name cannot be taken again there.</summary>
    public void Retire()
    {
        if (Interlocked.Exchange(ref _bus, null) is { } bus) _retired.Add(bus);
    }

    public async ValueTask DisposeAsync()
    {
        Retire();
        await Task.WhenAll(_retired.Select(bus => BusHost.StopAsync(bus, StopDeadline)));
        _starting.Dispose();
    }

    private async Task<IBusControl> StartedAsync(CancellationToken cancellationToken)
    {
        await _starting.WaitAsync(cancellationToken);
        try
        {
            if (_bus is not null) return _bus;
            LogContext.ConfigureCurrentLogContext(new BusLog(loggers));
            var bus = Bus.Factory.CreateUsingRabbitMq(configure => BusHost.Configure(configure, address, connectionName));
            using var deadline = new CancellationTokenSource(StartDeadline, time);
            using var either = CancellationTokenSource.CreateLinkedTokenSource(deadline.Token, cancellationToken);
            await BusHost.StartAsync(bus, either.Token);
            return _bus = bus;
        }
        finally
        {
            _starting.Release();
        }
    }
}
