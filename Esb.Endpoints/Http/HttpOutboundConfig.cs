using Esb.Core.Certificates;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;
using Esb.Core.Endpoints;
using Esb.Endpoints.Http.Credentials;

namespace Esb.Endpoints.Http;

/// <summary>An endpoint that sends requests of HTTP to one address.</summary>
internal sealed record HttpOutboundConfig : OutboundEndpointConfig
{
    [Setting("Where it sends to; never taken from a message.", MayHoldPassword = true)]
    public required string Url { get; init; }

    [Setting("Whether the server may be on another machine without TLS; told at each start.")]
    public bool AllowInsecure { get; init; }

    [Setting("For https://: certificates of authorities and of this client. Everything is verified, with or without it.")]
    public ClientTlsConfig? Tls { get; init; }

    [Setting("What the endpoint proves with who it is; it takes the place of what messages and callers carry.")]
    public TargetCredentialConfig? Authentication { get; init; }

    [Setting("The method; relays keep that of their caller.")]
    public string Method { get; init; } = "POST";

    [Setting("The largest body of an answer; by default that of limits. Relays pass on any size.", Range = "1B..1GiB")]
    public ByteSize? MaxBodySize { get; init; }

    /// <inheritdoc/>
    public override bool Answers => true;

    /// <inheritdoc/>
    public override string Address => Url;
}
