using Esb.Topics.RabbitMq.Connections;
using MassTransit;

namespace Esb.Topics.RabbitMq.Farm;

/// <summary>Tells a bus where the broker is, starts and stops it.</summary>
internal static class BusHost
{
    private static readonly TimeSpan CleanUpDeadline = TimeSpan.FromSeconds(5);
    private static readonly TimeSpan StopGrace = TimeSpan.FromSeconds(1);

    public static void Configure(IRabbitMqBusFactoryConfigurator bus, RabbitMqAddress address, string connectionName)
    {
        var nodes = address.ToRotation();
        bus.Host(address.Nodes[0].Host, (ushort)address.Nodes[0].Port, address.VirtualHost, host =>
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
        });
    }

    /// <summary>Starts a bus. One that is cancelled while it starts stops what it has, which may never end: that is waited for only as long as a stop.</summary>
    public static async Task StartAsync(IBusControl bus, CancellationToken cancellationToken)
    {
        using var patience = new CancellationTokenSource();
        await using var _ = cancellationToken.UnsafeRegister(state => ((CancellationTokenSource)state!).CancelAfter(CleanUpDeadline), patience);
        await bus.StartAsync(cancellationToken).WaitAsync(patience.Token);
    }

    /// <summary>Stops a bus; one that does not stop in time, or fails to, is left to the end of its connection.</summary>
    public static async Task StopAsync(IBusControl bus, TimeSpan limit)
    {
        try
        {
            await bus.StopAsync(limit).WaitAsync(limit + StopGrace);
        }
        catch (Exception)
        {
            // The bus has logged it. Whoever stops has others to stop, and those who rejoin a new bus to start.
        }
    }
}
