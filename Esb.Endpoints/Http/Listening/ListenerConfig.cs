using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;
using Esb.Endpoints.Http.Tls;

namespace Esb.Endpoints.Http.Listening;

/// <summary>An entry of the section <c>listeners</c>: the address at which inbound endpoints of HTTP are reached.</summary>
internal sealed record ListenerConfig : SettingsRecord
{
    [Setting("Where it listens: http://ADDRESS:PORT, or https:// with tls, with an IP address of this machine or localhost.")]
    public required string Url { get; init; }

    [Setting("Connections at once; further ones are closed.", Range = "1..100000")]
    public int MaxConnections { get; init; } = 1_000;

    [Setting("Connections that may wait to be taken.", Range = "1..65535")]
    public int Backlog { get; init; } = 512;

    [Setting(
        "Which version of HTTP it speaks. Any is both over TLS, and http1 without; http2 without TLS is for callers that know of it "
            + "beforehand."
    )]
    public HttpVersions Versions { get; init; }

    [Setting(
        "The hosts that requests may be for, as in their header Host: names, or *. followed by a domain, with a port where that "
            + "matters. By default any."
    )]
    public IReadOnlyList<string> Hosts { get; init; } = [];

    [Setting("Proxies whose X-Forwarded-For, -Proto and -Host are believed: addresses, or networks such as 10.0.0.0/8. By default none.")]
    public IReadOnlyList<string> TrustedProxies { get; init; } = [];

    [Setting("How long a caller may take to send the head of a request.", Range = "1s..10m")]
    public TimeSpan HeadTimeout { get; init; } = TimeSpan.FromSeconds(10);

    [Setting("How long a connection may be idle before it is closed.", Range = "1s..1h")]
    public TimeSpan IdleTimeout { get; init; } = TimeSpan.FromSeconds(60);

    [Setting("How long a body may stand still, or come and an answer go with less than minBodyRate.", Range = "2s..10m")]
    public TimeSpan BodyTimeout { get; init; } = TimeSpan.FromSeconds(5);

    [Setting("The least of a body or an answer that must pass in a second.", Range = "1B..1GiB")]
    public ByteSize MinBodyRate { get; init; } = new(240);

    [Setting("The certificate of this listener, and the certificates that it asks callers for.")]
    public ListenerTlsConfig? Tls { get; init; }

    [Setting(
        "Whether callers on other machines may send their credentials without TLS, because something before the listener speaks it; "
            + "told at each start."
    )]
    public bool AllowInsecure { get; init; }
}
