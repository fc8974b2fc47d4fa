using Esb.Core.Certificates;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;
using Esb.Core.Endpoints;
using Esb.Core.Messages;
using Esb.Endpoints.Http.Credentials;
using Esb.Endpoints.Http.Servers;

namespace Esb.Endpoints.Http.Sending;

/// <summary>Common settings of outbound endpoints that send over HTTP. Connections, TLS, credentials and fail-over depend on this type
/// alone.</summary>
[ExactlyOne("url", "urls")]
internal abstract record HttpTargetingConfig : OutboundEndpointConfig, IRewritesHeaders
{
    [Setting("Where it sends to; never taken from a message.", MayHoldPassword = true)]
    public string? Url { get; init; }

    [Setting("Several servers instead, at most 64, with the same scheme, path and query.", MayHoldPassword = true)]
    public IReadOnlyList<string> Urls { get; init; } = [];

    [Setting("Which of urls gets a request.")]
    public ServerBalance Balance { get; init; }

    [Setting("Whether the server may be on another machine without TLS; warned of at each start.")]
    public bool AllowInsecure { get; init; }

    [Setting("For https://: certificates of authorities and of this client. Everything is verified, with or without it.")]
    public ClientTlsConfig? Tls { get; init; }

    [Setting("The credential of the endpoint; it replaces those of messages and callers.")]
    public TargetCredentialConfig? Authentication { get; init; }

    [Setting("The largest body of an answer, unpacked; by default that of limits. Relays pass on any size.", Range = "1B..1GiB")]
    public ByteSize? MaxBodySize { get; init; }

    [Setting("Changes to the headers of what goes out, as far as the list lets them through.")]
    public HeaderRewriteConfig RewriteHeaders { get; init; } = new();

    [Setting("Changes to the headers of what comes back.")]
    public HeaderRewriteConfig RewriteAnswerHeaders { get; init; } = new();

    [Setting("How long opening a connection may take.", Range = "1ms..10m")]
    public TimeSpan ConnectTimeout { get; init; } = TimeSpan.FromSeconds(10);

    [Setting(
        "How long a connection may be idle before it is closed; less than the server waits, or requests may meet its end.",
        Range = "1s..1h"
    )]
    public TimeSpan IdleTimeout { get; init; } = TimeSpan.FromSeconds(60);

    [Setting("How long a connection is used before a new one is opened, which looks the name of the server up again.", Range = "1s..24h")]
    public TimeSpan ConnectionLifetime { get; init; } = TimeSpan.FromMinutes(2);

    [Setting("Whether connections are used for more than one request.")]
    public bool KeepAlive { get; init; } = true;

    /// <summary>The addresses of its servers: <c>url</c>, or <c>urls</c>.</summary>
    public IReadOnlyList<string> Addresses => Url is null ? Urls : [Url];

    /// <summary>What a relay to it reads and writes at once; endpoints that are relayed to have a setting for it.</summary>
    public virtual ByteSize RelayBufferSize => new(64 * 1024);

    /// <inheritdoc/>
    public override bool Answers => true;

    /// <inheritdoc/>
    public override string? Address => Url ?? Urls.FirstOrDefault();

    public override IReadOnlyList<string> AddressPaths => [Url is null ? $"{Path}.urls" : $"{Path}.url"];
}
