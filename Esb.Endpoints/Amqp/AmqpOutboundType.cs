using Esb.Configuration;
using Esb.Core.Brokers;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Expressions;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Endpoints.Amqp;

/// <summary>The type <c>amqp-outbound</c>.</summary>
internal sealed class AmqpOutboundType(IExpressionCompiler expressions, LimitsConfig limits) : OutboundEndpointType<AmqpOutboundConfig>
{
    private const string DeclaredKind = "topic";

    protected override CreateOutbound? Compile(AmqpOutboundConfig settings, ConfigErrors errors)
    {
        AmqpAddress.Check(settings, settings.Protocol, settings.BrokerNames, errors);
        if (settings.Send is not null && settings.TargetQueue is null)
            errors.Add("ESB-CFG-VALUE", settings, "send", "expected queue:NAME, such as \"queue:orders\"");
        if (settings.Send is not null && settings.RoutingKey.Length > 0)
            errors.Add("ESB-CFG-VALUE", settings, "routingKey", "a queue is addressed by its name: expected exchange");
        var routingKey = expressions.CompileTemplate(
            settings.RoutingKey,
            ConfigNode.Join(settings.Path, "routingKey"),
            settings.Origin,
            errors
        );
        if (routingKey is null)
            return null;
        return services =>
        {
            var publisher = services.GetRequiredService<IBrokers>().CreatePublisher(settings, settings.Name, LayoutOf(settings));
            return new AmqpOutboundAdapter(
                settings,
                routingKey,
                publisher,
                limits.MaxBodySize.Bytes,
                services.GetRequiredService<TimeProvider>()
            );
        };
    }

    private static BrokerLayout LayoutOf(AmqpOutboundConfig settings) =>
        settings.Exchange is { } exchange
            ? new BrokerLayout
            {
                Exchanges =
                [
                    settings.Declare ? new BrokerExchange(exchange, DeclaredKind) { IsMade = true } : new BrokerExchange(exchange),
                ],
            }
            : new BrokerLayout { Queue = new BrokerQueue(settings.TargetQueue ?? "") { IsMade = settings.Declare } };
}

/// <summary>State shared by the instances of one amqp-outbound endpoint: its connection. Thread-safe.</summary>
internal sealed class AmqpOutboundAdapter(
    AmqpOutboundConfig config,
    IMessageValue routingKey,
    IBrokerPublisher publisher,
    long maxBodyBytes,
    TimeProvider time
) : IOutboundAdapter
{
    public IOutboundEndpoint CreateInstance() => new AmqpOutboundEndpoint(config, routingKey, publisher, maxBodyBytes, time);

    public ValueTask DisposeAsync() => publisher.DisposeAsync();
}
