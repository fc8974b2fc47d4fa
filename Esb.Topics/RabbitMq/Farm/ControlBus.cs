using Esb.Core.Topics;
using Esb.Topics.RabbitMq.Connections;
using MassTransit;
using MassTransit.Logging;
using Microsoft.Extensions.Logging;

namespace Esb.Topics.RabbitMq.Farm;

/// <summary>A separate bus for messages between hosts: it publishes, which the connections that consume never do.</summary>
internal sealed class ControlBus : IAsyncDisposable
{
    private static readonly TimeSpan StartDeadline = TimeSpan.FromSeconds(10);
    private static readonly TimeSpan StopDeadline = TimeSpan.FromSeconds(5);
    private static readonly TimeSpan QueueExpires = TimeSpan.FromMinutes(5);

    private readonly IBusControl _bus;

    private ControlBus(IBusControl bus) => _bus = bus;

    /// <summary>Starts to listen.</summary>
    /// <param name="address">The broker.</param>
    /// <param name="exchange">The exchange to which all hosts of the farm publish.</param>
    /// <param name="self">This host.</param>
    /// <param name="hear">Called sequentially; returns quickly.</param>
    /// <param name="loggers">Receive the log of the bus at Debug.</param>
    /// <param name="cancellationToken">Cancels the wait for the broker.</param>
    public static async Task<ControlBus> StartAsync(
        RabbitMqAddress address,
        string exchange,
        FarmHost self,
        Action<FarmMessage> hear,
        ILoggerFactory loggers,
        CancellationToken cancellationToken
    )
    {
        LogContext.ConfigureCurrentLogContext(new BusLog(loggers));
        var bus = new ControlBus(
            Bus.Factory.CreateUsingRabbitMq(configure =>
            {
                BusHost.Configure(configure, address, $"farm {self.Name}");
                configure.Message<FarmMessage>(message => message.SetEntityName(exchange));
                configure.ReceiveEndpoint(
                    $"{exchange}.{Guid.NewGuid():N}",
                    endpoint => // new each time: the last one's node may be down
                    {
                        endpoint.QueueExpiration = QueueExpires;
                        // durable all the same: newer brokers refuse queues that are neither durable nor exclusive
                        endpoint.AutoDelete = true;
                        endpoint.ConcurrentMessageLimit = 1;
                        // an unreadable message is from no host, and a queue of faults would never be read
                        endpoint.DiscardFaultedMessages();
                        endpoint.DiscardSkippedMessages();
                        endpoint.Handler<FarmMessage>(context =>
                        {
                            if (context.Message.IsComplete)
                                hear(context.Message);
                            return Task.CompletedTask;
                        });
                    }
                );
            })
        );
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

    public Task PublishAsync(FarmMessage message, CancellationToken cancellationToken) =>
        _bus.Publish(message, cancellationToken).WaitAsync(cancellationToken);

    /// <summary>Ends within seconds and without a failure.</summary>
    public async ValueTask DisposeAsync() => await BusHost.StopAsync(_bus, StopDeadline);
}
