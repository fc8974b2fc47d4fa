using Esb.Core.Configuration.Settings;
using Esb.Endpoints.Http.Tls;

namespace Esb.Endpoints.Http;

/// <summary>One of the section <c>listeners</c>: where inbound endpoints of HTTP are reached.</summary>
internal sealed record ListenerConfig : SettingsRecord
{
    [Setting("Where it listens: http://ADDRESS:PORT, or https:// with tls, with an IP address of this machine or localhost.")]
    public required string Url { get; init; }

    [Setting("Connections at once; further ones are closed.", Range = "1..100000")]
    public int MaxConnections { get; init; } = 1_000;

    [Setting("The certificate of this listener, and what it wants to see of callers.")]
    public ListenerTlsConfig? Tls { get; init; }

    [Setting("Whether callers on other machines may send their credentials without TLS, because something before the listener speaks it; told at each start.")]
    public bool AllowInsecure { get; init; }
}
