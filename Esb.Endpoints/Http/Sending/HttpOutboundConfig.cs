using Esb.Core.Certificates;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;
using Esb.Core.Endpoints;
using Esb.Core.Expressions;
using Esb.Core.Messages;
using Esb.Endpoints.Http.Credentials;
using Esb.Endpoints.Http.Servers;
using Esb.Endpoints.Http.Targets;

namespace Esb.Endpoints.Http.Sending;

/// <summary>An endpoint that sends HTTP requests to one address, or to servers that share the work.</summary>
[ExactlyOne("url", "urls")]
[AtMostOne("targets", "targetsFile")]
internal sealed record HttpOutboundConfig : OutboundEndpointConfig, IRewritesHeaders
{
    [Setting("Where it sends to; never taken from a message.", MayHoldPassword = true)]
    public string? Url { get; init; }

    [Setting("Several servers instead, at most 64, with the same scheme, path and query.", MayHoldPassword = true)]
    public IReadOnlyList<string> Urls { get; init; } = [];

    [Setting("Which of urls gets a request.")]
    public ServerBalance Balance { get; init; }

    [Setting("Whether the server may be on another machine without TLS; told at each start.")]
    public bool AllowInsecure { get; init; }

    [Setting("For https://: certificates of authorities and of this client. Everything is verified, with or without it.")]
    public ClientTlsConfig? Tls { get; init; }

    [Setting("What the endpoint proves with who it is; it takes the place of what messages and callers carry.")]
    public TargetCredentialConfig? Authentication { get; init; }

    [Setting("The method; relays keep that of their caller.")]
    public string Method { get; init; } = "POST";

    [Setting("The path of requests, behind that of the url: a text with places for values, such as \"/customers/{property.id}\". Each value is one segment, percent-encoded.", Name = "path")]
    public string? RequestPath { get; init; }

    [Setting("Parameters of the query, by name; one without a value is left out.")]
    public IReadOnlyDictionary<string, ValueConfig> Query { get; init; } = new Dictionary<string, ValueConfig>();

    [Setting("Other places that a call may name, each with its url.", NamesThings = true)]
    public IReadOnlyDictionary<string, HttpTargetConfig> Targets { get; init; } = new Dictionary<string, HttpTargetConfig>();

    [Setting("A JSON file with the targets instead, which may change while the bus runs.", IsPath = true)]
    public string? TargetsFile { get; init; }

    [Setting("The largest body of an answer, unpacked; by default that of limits. Relays pass on any size.", Range = "1B..1GiB")]
    public ByteSize? MaxBodySize { get; init; }

    [Setting("Changes to the headers of what goes out, as far as the list lets them through.")]
    public HeaderRewriteConfig RewriteHeaders { get; init; } = new();

    [Setting("Changes to the headers of what comes back.")]
    public HeaderRewriteConfig RewriteAnswerHeaders { get; init; } = new();

    [Setting("How long opening a connection may take.", Range = "1ms..10m")]
    public TimeSpan ConnectTimeout { get; init; } = TimeSpan.FromSeconds(10);

    [Setting("How long a connection may be idle before it is closed; less than the server waits, or requests may meet its end.", Range = "1s..1h")]
    public TimeSpan IdleTimeout { get; init; } = TimeSpan.FromSeconds(60);

    [Setting("How long a connection is used before a new one is opened, which looks the name of the server up again.", Range = "1s..24h")]
    public TimeSpan ConnectionLifetime { get; init; } = TimeSpan.FromMinutes(2);

    [Setting("Whether connections are used for more than one request.")]
    public bool KeepAlive { get; init; } = true;

    [Setting("What a relay reads and writes at once; each that is under way has two buffers of this size at most, an idle connection two of 16 KiB.", Range = "32KiB..1MiB")]
    public ByteSize BufferSize { get; init; } = new(64 * 1024);

    /// <summary>The addresses of its servers: <c>url</c>, or <c>urls</c>.</summary>
    public IReadOnlyList<string> Addresses => Url is null ? Urls : [Url];

    /// <inheritdoc/>
    public override bool Answers => true;

    /// <inheritdoc/>
    public override bool TakesRequests => true;

    /// <inheritdoc/>
    public override IEnumerable<PropertyUse> PropertyUses =>
    [
        .. PropertyNames.InTemplate(RequestPath ?? "").Select(name => new PropertyUse("path", name)),
        .. Query.SelectMany(parameter => PropertyNames.Of(parameter.Value), (parameter, name) => new PropertyUse($"query.{parameter.Key}", name)),
    ];

    /// <inheritdoc/>
    public override bool HasTargets => Targets.Count > 0 || TargetsFile is not null;

    /// <inheritdoc/>
    public override bool MayHaveTarget(string name) => TargetsFile is not null || Targets.ContainsKey(name);

    /// <inheritdoc/>
    public override string? Address => Url ?? Urls.FirstOrDefault();

    public override IReadOnlyList<string> AddressPaths => [Url is null ? $"{Path}.urls" : $"{Path}.url"];
}
