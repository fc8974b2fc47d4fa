using Esb.Core.Certificates;

namespace Esb.Core.Brokers;

/// <summary>Settings of an endpoint that reads from a broker or writes to it: the broker of the topics unless it names another.</summary>
public interface IBrokerSettings
{
    /// <summary>The broker's address; null for the broker of the topics.</summary>
    string? Url { get; }

    /// <summary>Certificates for amqps://; null for those of the system.</summary>
    ClientTlsConfig? Tls { get; }

    /// <summary>True if a broker on another machine may be used without TLS.</summary>
    bool AllowInsecure { get; }

    /// <summary>The exchanges and queues that the settings name, each with the setting. None may be one of the bus itself.</summary>
    IEnumerable<(string Setting, string Name)> BrokerNames { get; }
}
