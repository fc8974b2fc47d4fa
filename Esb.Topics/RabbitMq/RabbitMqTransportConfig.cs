using Esb.Core.Certificates;
using Esb.Core.Configuration.Settings;
using Esb.Core.Topics;

namespace Esb.Topics.RabbitMq;

/// <summary>Settings of topics on a RabbitMQ broker.</summary>
internal sealed record RabbitMqTransportConfig : TransportConfig
{
    /// <summary>The broker's address, or those of the nodes of a cluster.</summary>
    [Setting(
        "The broker's address: amqp://user:password@host:port/virtual-host, or amqps:// for TLS, which is verified in full. The "
            + "nodes of a cluster are listed behind one another: one:5672,two:5672,three:5672.",
        MayHoldPassword = true
    )]
    public required string Url { get; init; }

    /// <summary>The prefix of the names of all exchanges and queues.</summary>
    [Setting("What the names of all exchanges and queues begin with.")]
    public string Prefix { get; init; } = "esb";

    /// <summary>Certificates; null for those of the system and no client certificate.</summary>
    [Setting("For amqps://: certificates of authorities and of this client. Everything is verified, with or without it.")]
    public ClientTlsConfig? Tls { get; init; }

    /// <summary>True if a broker on another machine may be used without TLS.</summary>
    [Setting("Whether amqp:// without TLS may be used to another machine; warned of at each start.")]
    public bool AllowInsecure { get; init; }

    /// <inheritdoc/>
    public override bool SpansHosts => true;
}
