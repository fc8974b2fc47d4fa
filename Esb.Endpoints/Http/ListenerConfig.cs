using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;

namespace Esb.Endpoints.Http;

/// <summary>One of the section <c>listeners</c>: where inbound endpoints of HTTP are reached.</summary>
internal sealed record ListenerConfig : SettingsRecord
{
    [Setting("Where it listens: http://ADDRESS:PORT, with an IP address of this machine or localhost.")]
    public required string Url { get; init; }

    [Setting("Connections at once; further ones are closed.", Range = "1..100000")]
    public int MaxConnections { get; init; } = 1_000;

    [Setting("Certificates and protocols of TLS.", Unavailable = true)]
    public ConfigNode? Tls { get; init; }
}
