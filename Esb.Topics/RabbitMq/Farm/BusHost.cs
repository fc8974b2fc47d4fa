using Esb.Topics.RabbitMq.Connections;
using MassTransit;

namespace Esb.Topics.RabbitMq.Farm;

/// <summary>Configures the broker of a bus, starts and stops the bus.</summary>
internal static class BusHost
{
    private static readonly TimeSpan CleanUpDeadline = TimeSpan.FromSeconds(5);
    private static readonly TimeSpan StopGrace = TimeSpan.FromSeconds(1);

    public static void Configure(IRabbitMqBusFactoryConfigurator bus, RabbitMqAddress address, string connectionName)
    {
        var nodes = address.ToRotation();
        bus.Host(
            address.Nodes[0].Host,
            (ushort)address.Nodes[0].Port,
            address.VirtualHost,
            host =>
            {
                host.Username(address.User);
                host.Password(address.Password);
                host.ConnectionName(connectionName);
                host.RequestedConnectionTimeout(address.ConnectTimeout);
                host.Heartbeat(TimeSpan.FromSeconds(10));
                host.MaxMessageSize(RabbitMqAddress.MaxMessageBytes);
                host.OnRefreshConnectionFactory = factory =>
                {
                    address.Prepare(factory, nodes);
                    return Task.CompletedTask;
                };
            }
        );
    }

    /// <summary>Starts a bus. A cancelled start stops the started parts, which may never end: the wait for them is limited to the time of a
    /// stop.</summary>
    public static async Task StartAsync(IBusControl bus, CancellationToken cancellationToken)
    {
        using var patience = new CancellationTokenSource();
        await using var _ = cancellationToken.UnsafeRegister(
            state => ((CancellationTokenSource)state!).CancelAfter(CleanUpDeadline),
            patience
        );
        await bus.StartAsync(cancellationToken).WaitAsync(patience.Token);
    }

    /// <summary>Stops a bus. A bus that does not stop in time, or fails to, ends with its connection.</summary>
    public static async Task StopAsync(IBusControl bus, TimeSpan limit)
    {
        try
        {
            await bus.StopAsync(limit).WaitAsync(limit + StopGrace);
        }
        catch (Exception)
        {
            // The bus has logged it. The caller may have other buses to stop, or a new bus to start.
        }
    }
}
