using Esb.Core.Topics;

namespace Esb.Topics.RabbitMq.Endpoints;

/// <summary>Names of exchanges and queues that belong to the bus: endpoints neither read nor write them.</summary>
/// <param name="prefix">What they begin with.</param>
internal sealed class ReservedNames(string prefix)
{
    private const string DefaultPrefix = "esb";

    private readonly string _beginning = $"{prefix}.";

    /// <summary>The names of the transport; those of the default prefix where it has no broker.</summary>
    public static ReservedNames Of(TransportConfig transport) => new((transport as RabbitMqTransportConfig)?.Prefix ?? DefaultPrefix);

    public bool Contains(string name) => name.StartsWith(_beginning, StringComparison.Ordinal);
}
