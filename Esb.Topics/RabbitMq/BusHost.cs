using MassTransit;

namespace Esb.Topics.RabbitMq;

/// <summary>Tells a bus where the broker is.</summary>
internal static class BusHost
{
    public static void Configure(IRabbitMqBusFactoryConfigurator bus, RabbitMqAddress address, string connectionName) =>
        bus.Host(address.Host, (ushort)address.Port, address.VirtualHost, host =>
        {
            host.Username(address.User);
            host.Password(address.Password);
            host.ConnectionName(connectionName);
            host.RequestedConnectionTimeout(TimeSpan.FromSeconds(10));
            host.Heartbeat(TimeSpan.FromSeconds(10));
            host.MaxMessageSize(RabbitMqAddress.MaxMessageBytes);
            host.OnRefreshConnectionFactory = factory =>
            {
                address.Secure(factory);
                return Task.CompletedTask;
            };
        });
}
