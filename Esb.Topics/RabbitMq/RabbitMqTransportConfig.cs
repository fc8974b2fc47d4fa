using Esb.Core.Configuration.Settings;
using Esb.Core.Topics;

namespace Esb.Topics.RabbitMq;

/// <summary>Settings of topics on a RabbitMQ broker.</summary>
internal sealed record RabbitMqTransportConfig : TransportConfig
{
    /// <summary>The broker's address.</summary>
    [Setting("The broker's address: amqp://user:password@host:port/virtual-host, or amqps:// for TLS, which is verified in full.", MayHoldPassword = true)]
    public required string Url { get; init; }

    /// <summary>What the names of all exchanges and queues begin with.</summary>
    [Setting("What the names of all exchanges and queues begin with.")]
    public string Prefix { get; init; } = "esb";

    /// <summary>Not yet available.</summary>
    [Setting("Certificates of the broker and of this client.", Unavailable = true)]
    public string? Tls { get; init; }

    /// <inheritdoc/>
    public override bool SpansHosts => true;
}
