using Esb.Configuration;
using Esb.Core.Brokers;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Endpoints.Brokers;

namespace Esb.Endpoints.Amqp;

/// <summary>The type <c>amqp-inbound</c>.</summary>
internal sealed class AmqpInboundType(BusIdentity bus, LimitsConfig limits) : InboundEndpointType<AmqpInboundConfig>
{
    private const string DeclaredKind = "topic";

    protected override CreateInbound? Compile(AmqpInboundConfig settings, ConfigErrors errors)
    {
        Check(settings, errors);
        var layout = LayoutOf(settings);
        return (services, intake) =>
            new BrokerInbound(settings, settings, services, intake).Create(
                (brokers, _, time) => new AmqpFormat(settings, limits.MaxBodySize.Bytes, brokers.IsOurs, time),
                settings.PrefetchInUse,
                settings.MaxConcurrentCalls,
                _ => Task.FromResult(layout)
            );
    }

    private BrokerLayout LayoutOf(AmqpInboundConfig settings)
    {
        if (settings.Exchange is not { } exchange)
            return new BrokerLayout { Queue = new BrokerQueue(settings.Queue ?? "") { IsMade = settings.Declare } };
        var queue = $"esb-{bus.Name}-{settings.Name}";
        return new BrokerLayout
        {
            Exchanges = [settings.Declare ? new BrokerExchange(exchange, DeclaredKind) { IsMade = true } : new BrokerExchange(exchange)],
            Queue = new BrokerQueue(queue) { IsMade = true },
            Bindings = [.. settings.RoutingKey.DefaultIfEmpty("").Select(key => new BrokerBinding(exchange, queue, key, IsToQueue: true))],
        };
    }

    private static void Check(AmqpInboundConfig settings, ConfigErrors errors)
    {
        AmqpAddress.Check(settings, settings.Protocol, settings.BrokerNames, errors);
        if (settings.Relay is not null)
            errors.Add("ESB-CFG-VALUE", settings, "relay", "a message of a broker cannot be relayed: expected process or publish");
        if (settings.Queue is not null && settings.RoutingKey.Count > 0)
            errors.Add("ESB-CFG-VALUE", settings, "routingKey", "a queue is read as it is: expected exchange");
        if (settings.RoutingKey.Any(key => !AmqpAddress.IsRoutingKey(key)))
            errors.Add("ESB-CFG-VALUE", settings, "routingKey", "expected at most 255 bytes");
        if (settings.Prefetch < settings.MaxConcurrentCalls)
            errors.Add("ESB-CFG-RANGE", settings, "prefetch", $"expected at least maxConcurrentCalls, {settings.MaxConcurrentCalls}");
    }
}
