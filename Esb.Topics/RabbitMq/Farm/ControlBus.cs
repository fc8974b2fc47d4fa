using Esb.Core.Topics;
using Esb.Topics.RabbitMq.Connections;
using MassTransit;
using MassTransit.Logging;
using Microsoft.Extensions.Logging;

namespace Esb.Topics.RabbitMq.Farm;

/// <summary>A bus of its own for what hosts tell each other: it publishes, which the connections that consume never do.</summary>
internal sealed class ControlBus : IAsyncDisposable
{
    private static readonly TimeSpan StartDeadline = TimeSpan.FromSeconds(10);
    private static readonly TimeSpan StopDeadline = TimeSpan.FromSeconds(5);
    private static readonly TimeSpan QueueExpires = TimeSpan.FromMinutes(5);

    private readonly IBusControl _bus;

    private ControlBus(IBusControl bus) => _bus = bus;

    /// <summary>Starts to listen.</summary>
    /// <param name="address">The broker.</param>
    /// <param name="exchange">Where all hosts of the farm publish.</param>
    /// <param name="self">This host.</param>
    /// <param name="hear">Is called one by one, and returns soon.</param>
    /// <param name="loggers">Hear the bus at Debug.</param>
    /// <param name="cancellationToken">Stops waiting for the broker.</param>
    public static async Task<ControlBus> StartAsync(
        RabbitMqAddress address, string exchange, FarmHost self, Action<FarmMessage> hear, ILoggerFactory loggers, CancellationToken cancellationToken)
    {
        LogContext.ConfigureCurrentLogContext(new BusLog(loggers));
        var bus = new ControlBus(Bus.Factory.CreateUsingRabbitMq(configure =>
        {
            BusHost.Configure(configure, address, $"farm {self.Name}");
            configure.Message<FarmMessage>(message => message.SetEntityName(exchange));
            configure.ReceiveEndpoint($"{exchange}.{Guid.NewGuid():N}", endpoint => // a new one each time: the node that holds the last may be away
            {
                endpoint.QueueExpiration = QueueExpires;
                endpoint.AutoDelete = true; // durable all the same: newer brokers refuse queues that are neither durable nor exclusive
                endpoint.ConcurrentMessageLimit = 1;
                endpoint.DiscardFaultedMessages(); // what cannot be read is no word of a host; nobody would look into a queue of them
                endpoint.DiscardSkippedMessages();
                endpoint.Handler<FarmMessage>(context =>
                {
                    hear(context.Message);
                    return Task.CompletedTask;
                });
            });
        }));
        using var deadline = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        deadline.CancelAfter(StartDeadline);
        try
        {
            await BusHost.StartAsync(bus._bus, deadline.Token);
            return bus;
        }
        catch
        {
            await bus.DisposeAsync();
            throw;
        }
    }

    public Task PublishAsync(FarmMessage message, CancellationToken cancellationToken) => _bus.Publish(message, cancellationToken).WaitAsync(cancellationToken);

    /// <summary>Ends within seconds, and without a failure.</summary>
    public async ValueTask DisposeAsync() => await BusHost.StopAsync(_bus, StopDeadline);
}
