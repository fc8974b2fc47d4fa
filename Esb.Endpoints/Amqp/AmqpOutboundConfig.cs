using Esb.Core.Brokers;
using Esb.Core.Certificates;
using Esb.Core.Configuration.Settings;
using Esb.Core.Endpoints;

namespace Esb.Endpoints.Amqp;

/// <summary>An endpoint that publishes to a broker.</summary>
[ExactlyOne("send", "exchange")]
public sealed record AmqpOutboundConfig : OutboundEndpointConfig, IBrokerSettings
{
    /// <summary>The queue to send to; null if an exchange is named.</summary>
    [Setting("The queue that messages are put into: queue:NAME. It exists, unless declare says otherwise.")]
    public string? Send { get; init; }

    /// <summary>The exchange; null if a queue is named.</summary>
    [Setting("The exchange that messages are published to. It exists, unless declare says otherwise.")]
    public string? Exchange { get; init; }

    /// <summary>The routing key.</summary>
    [Setting("With exchange: the routing key, a text with places for values; by default the empty one.")]
    public string RoutingKey { get; init; } = "";

    /// <summary>True if a missing queue or exchange is made.</summary>
    [Setting("Whether a missing queue, or topic exchange, is made, durable; what exists is never changed.")]
    public bool Declare { get; init; }

    /// <summary>The protocol.</summary>
    [Setting("The version of the protocol: 0-9-1.")]
    public AmqpProtocol Protocol { get; init; } = AmqpProtocol.Spoken;

    /// <summary>True if a message that no queue takes fails.</summary>
    [Setting("Whether a message that no queue takes is a failure.")]
    public bool Mandatory { get; init; } = true;

    /// <inheritdoc/>
    [Setting(
        "The broker: amqp://user:password@host:port/virtual-host, or amqps:// for TLS; by default the broker of the topics.",
        MayHoldPassword = true
    )]
    public string? Url { get; init; }

    /// <inheritdoc/>
    [Setting("For amqps://: certificates of authorities and of this client. Everything is verified, with or without it.")]
    public ClientTlsConfig? Tls { get; init; }

    /// <inheritdoc/>
    [Setting("Whether amqp:// without TLS may be used to another machine; warned of at each start.")]
    public bool AllowInsecure { get; init; }

    /// <inheritdoc/>
    public override string? Address => AmqpAddress.Of(this, this, TargetQueue, Exchange);

    /// <inheritdoc/>
    public IEnumerable<(string Setting, string Name)> BrokerNames => AmqpAddress.NamesOf(TargetQueue, Exchange, queueSetting: "send");

    internal string? TargetQueue =>
        Send?.StartsWith(AmqpAddress.Queue, StringComparison.Ordinal) == true ? Send[AmqpAddress.Queue.Length..] : null;
}
