using Esb.Core.Brokers;
using Esb.Core.Certificates;
using Esb.Core.Configuration.Settings;
using Esb.Core.Endpoints;

namespace Esb.Endpoints.MassTransit;

/// <summary>An endpoint that publishes or sends messages that MassTransit applications consume.</summary>
public sealed record MassTransitOutboundConfig : OutboundEndpointConfig, IBrokerSettings
{
    /// <summary>The message types.</summary>
    [Setting(
        "The message type, such as Shop.Contracts:OrderAccepted, or a list of them: the type itself, then its base types and interfaces.",
        TakesOne = true
    )]
    public required IReadOnlyList<MessageTypeName> MessageType { get; init; }

    /// <summary>The names of exchanges that are not named after their message type.</summary>
    [Setting(
        "The exchange of a message type, where the applications name it otherwise (EntityName): { \"Shop.Contracts:OrderAccepted\": "
            + "\"order-accepted\" }."
    )]
    public IReadOnlyDictionary<string, string> EntityNames { get; init; } = new Dictionary<string, string>();

    /// <summary>The address to send to; null to publish.</summary>
    [Setting("Where messages are sent: queue:NAME, or exchange:NAME; without it they are published. It exists already.")]
    public string? Send { get; init; }

    /// <summary>True if a message that no queue takes fails; by default only of messages that are sent.</summary>
    [Setting("Whether a message that no queue takes is a failure; by default yes for what is sent, no for what is published.")]
    public bool? Mandatory { get; init; }

    /// <summary>The message type of answers; null if none is awaited.</summary>
    [Setting("The message type of the answer that each message waits for: then the endpoint can be called and answers requests.")]
    public MessageTypeName? ReplyType { get; init; }

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
    public override bool Answers => ReplyType is not null;

    /// <inheritdoc/>
    public override string? Address =>
        Send is null ? MassTransitNames.AddressOf(this, this, MessageType, EntityNames) : $"{MassTransitNames.PlaceOf(this)}{Send}";

    /// <inheritdoc/>
    public IEnumerable<(string Setting, string Name)> BrokerNames =>
        [
            .. SendTarget.Parse(Send) is { } target ? [("send", target.Name)] : Array.Empty<(string, string)>(),
            .. EntityNames.Values.Select(name => ("entityNames", name)),
        ];

    internal bool IsMandatory => Mandatory ?? Send is not null;
}
