using Esb.Core.Brokers;

namespace Esb.Endpoints.MassTransit;

/// <summary>Where the messages of an outbound endpoint go.</summary>
/// <param name="Exchange">The exchange; empty for a queue.</param>
/// <param name="RoutingKey">The name of the queue; empty for an exchange.</param>
/// <param name="Layout">What has to exist, or is made.</param>
internal sealed record OutboundTarget(string Exchange, string RoutingKey, BrokerLayout Layout)
{
    /// <summary>The name in the destination address.</summary>
    public string Name => Exchange.Length > 0 ? Exchange : RoutingKey;

    /// <summary>The exchange of the message type, made as MassTransit makes it; or the queue or exchange to send to, which
    /// exists.</summary>
    public static OutboundTarget Of(MassTransitOutboundConfig config)
    {
        if (SendTarget.Parse(config.Send) is not { } send)
        {
            var exchange = MassTransitNames.ExchangeOf(config.MessageType[0], config.EntityNames);
            return new OutboundTarget(
                exchange,
                "",
                new BrokerLayout { Exchanges = [new BrokerExchange(exchange, "fanout") { IsMade = true }] }
            );
        }

        return send.IsQueue
            ? new OutboundTarget("", send.Name, new BrokerLayout { Queue = new BrokerQueue(send.Name) })
            : new OutboundTarget(send.Name, "", new BrokerLayout { Exchanges = [new BrokerExchange(send.Name)] });
    }
}
