using Esb.Core.Brokers;
using Esb.Core.Certificates;
using Esb.Core.Configuration.Settings;
using Esb.Core.Endpoints;

namespace Esb.Endpoints.MassTransit;

/// <summary>An endpoint that receives what MassTransit applications publish or send.</summary>
public sealed record MassTransitInboundConfig : InboundEndpointConfig, IBrokerSettings
{
    private const int LeastPrefetch = 32;
    private const int MostPrefetch = 10_000;

    /// <summary>The message types it receives.</summary>
    [Setting(
        "The message type it receives, such as Shop.Contracts:OrderAccepted, or a list of them; of a message of several types it "
            + "gets one copy.",
        TakesOne = true
    )]
    public required IReadOnlyList<MessageTypeName> MessageType { get; init; }

    /// <summary>The names of exchanges that are not named after their message type.</summary>
    [Setting(
        "The exchange of a message type, where the applications name it otherwise (EntityName): { \"Shop.Contracts:OrderAccepted\": "
            + "\"order-accepted\" }."
    )]
    public IReadOnlyDictionary<string, string> EntityNames { get; init; } = new Dictionary<string, string>();

    /// <summary>The queue; null for a name made of the configuration's name and the endpoint's.</summary>
    [Setting("The queue, made where it is missing; by default esb-NAME-ENDPOINT. Applications may also send to it.")]
    public string? Queue { get; init; }

    /// <summary>The message type of answers.</summary>
    [Setting("With mode request-reply: the message type of the answers.")]
    public MessageTypeName? ReplyType { get; init; }

    /// <summary>Messages handed over at once.</summary>
    [Setting("Messages handed over at once; with 1 they keep the order of the queue.", Range = "1..1000")]
    public int MaxConcurrentCalls { get; init; } = 32;

    /// <summary>Messages that may be on their way from the broker; by default twice <see cref="MaxConcurrentCalls"/>, at least
    /// 32.</summary>
    [Setting("Messages that may be on their way from the broker; by default twice maxConcurrentCalls, at least 32.", Range = "1..10000")]
    public int? Prefetch { get; init; }

    /// <inheritdoc/>
    [Setting(
        "The broker of the applications: amqp://user:password@host:port/virtual-host, or amqps:// for TLS; by default the broker of "
            + "the topics.",
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
    public override string? Address => MassTransitNames.AddressOf(this, this, MessageType, EntityNames);

    /// <inheritdoc/>
    public IEnumerable<(string Setting, string Name)> BrokerNames =>
        [
            .. Queue is null ? Array.Empty<(string, string)>() : [("queue", Queue)],
            .. EntityNames.Values.Select(name => ("entityNames", name)),
        ];

    internal int PrefetchInUse => Math.Max(Prefetch ?? Math.Clamp(2 * MaxConcurrentCalls, LeastPrefetch, MostPrefetch), MaxConcurrentCalls);
}
