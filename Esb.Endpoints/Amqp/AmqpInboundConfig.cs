using Esb.Core.Brokers;
using Esb.Core.Certificates;
using Esb.Core.Configuration.Settings;
using Esb.Core.Endpoints;

namespace Esb.Endpoints.Amqp;

/// <summary>An endpoint that reads a queue of a broker.</summary>
[ExactlyOne("queue", "exchange")]
public sealed record AmqpInboundConfig : InboundEndpointConfig, IBrokerSettings
{
    private const int LeastPrefetch = 32;
    private const int MostPrefetch = 10_000;

    /// <summary>The queue; null if an exchange is named.</summary>
    [Setting("The queue that is read. It exists, unless declare says otherwise.")]
    public string? Queue { get; init; }

    /// <summary>The exchange; null if a queue is named.</summary>
    [Setting(
        "The exchange whose messages are read, over a queue esb-NAME-ENDPOINT that is made where it is missing. It exists, unless "
            + "declare says otherwise."
    )]
    public string? Exchange { get; init; }

    /// <summary>The routing keys by which the queue is bound to the exchange.</summary>
    [Setting("With exchange: the routing key or keys that are read, such as orders.#; by default the empty one.", TakesOne = true)]
    public IReadOnlyList<string> RoutingKey { get; init; } = [];

    /// <summary>True if a missing queue or exchange is made.</summary>
    [Setting("Whether a missing queue, or topic exchange, is made, durable; what exists is never changed.")]
    public bool Declare { get; init; }

    /// <summary>The protocol.</summary>
    [Setting("The version of the protocol: 0-9-1.")]
    public AmqpProtocol Protocol { get; init; } = AmqpProtocol.Spoken;

    /// <summary>The queues that answers may go to.</summary>
    [Setting(
        "With mode request-reply: the queues that answers may go to, names or beginnings followed by *; by default those that "
            + "brokers name.",
        TakesOne = true
    )]
    public IReadOnlyList<string> ReplyTo { get; init; } = ["amq.gen-*", "amq.rabbitmq.reply-to*"];

    /// <summary>Messages handed over at once.</summary>
    [Setting("Messages handed over at once; with 1 they keep the order of the queue.", Range = "1..1000")]
    public int MaxConcurrentCalls { get; init; } = 32;

    /// <summary>Messages that may be on their way from the broker; by default twice <see cref="MaxConcurrentCalls"/>, at least
    /// 32.</summary>
    [Setting("Messages that may be on their way from the broker; by default twice maxConcurrentCalls, at least 32.", Range = "1..10000")]
    public int? Prefetch { get; init; }

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
    public override int? CallsAtOnce => MaxConcurrentCalls;

    /// <inheritdoc/>
    public override string? Address => AmqpAddress.Of(this, this, Queue, Exchange);

    /// <inheritdoc/>
    public IEnumerable<(string Setting, string Name)> BrokerNames => AmqpAddress.NamesOf(Queue, Exchange);

    internal int PrefetchInUse => Math.Max(Prefetch ?? Math.Clamp(2 * MaxConcurrentCalls, LeastPrefetch, MostPrefetch), MaxConcurrentCalls);
}
