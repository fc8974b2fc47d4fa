using Esb.Core.Brokers;
using Esb.Core.Configuration;
using Esb.Core.Topics;
using Esb.Topics.RabbitMq.Connections;
using Esb.Topics.RabbitMq.Tls;
using Microsoft.Extensions.Logging;

namespace Esb.Topics.RabbitMq.Endpoints;

/// <inheritdoc cref="IBrokers"/>
/// <param name="transport">The broker of endpoints that name none, if it is RabbitMQ.</param>
/// <param name="bus">Its name is part of the names of connections.</param>
/// <param name="time">The clock.</param>
/// <param name="loggers">Receive the log.</param>
internal sealed class EndpointBrokers(TransportConfig transport, BusIdentity bus, TimeProvider time, ILoggerFactory loggers) : IBrokers
{
    private readonly ReservedNames _reserved = ReservedNames.Of(transport);

    public IBrokerPublisher CreatePublisher(IBrokerSettings settings, string endpoint, BrokerLayout layout) =>
        new EndpointPublisher(
            AddressOf(settings),
            $"{bus.Name} {endpoint} publish",
            layout,
            time,
            loggers.CreateLogger<EndpointPublisher>()
        );

    public IBrokerReader CreateReader(IBrokerSettings settings, BrokerReading reading) =>
        new EndpointReader(
            AddressOf(settings),
            $"{bus.Name} {reading.Endpoint} consume",
            reading,
            time,
            loggers.CreateLogger<EndpointReader>()
        );

    public bool IsOurs(string name) => _reserved.Contains(name);

    // Reads the files of certificates anew: an endpoint that starts again uses renewed ones.
    private RabbitMqAddress AddressOf(IBrokerSettings settings)
    {
        if (settings.Url is null && transport is RabbitMqTransportConfig ours)
            return RabbitMqAddress.Of(ours, time.GetUtcNow());
        var address = RabbitMqAddress.Parse(settings.Url ?? "") ?? RabbitMqAddress.None;
        return settings.Tls is { } tls ? address with { Tls = new BrokerTls(tls, time.GetUtcNow()) } : address;
    }
}
