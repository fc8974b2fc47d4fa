using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;
using Esb.Core.Endpoints;
using Esb.Core.Messages;
using Esb.Endpoints.Http.Access;
using Esb.Endpoints.Http.Access.Signatures;
using Esb.Endpoints.Http.Receiving;
using Esb.Endpoints.Http.Refusals;

namespace Esb.Endpoints.Http;

/// <summary>Common settings of inbound endpoints that callers reach by HTTP on a listener. Routes, TLS, access and limits depend on this
/// type alone.</summary>
internal abstract record ListeningEndpointConfig : InboundEndpointConfig, IRewritesHeaders
{
    private static readonly string[] PostOnly = ["POST"];
    private static readonly Dictionary<string, string> NoQuery = [];

    /// <inheritdoc/>
    public override bool CanOverlap => true;

    [Setting(
        "The path that it answers at, exactly as written; a segment {name} takes any one segment, as the property path.name.",
        Name = "path"
    )]
    public required string RequestPath { get; init; }

    [Setting("The listener that it is reached by.", Reference = "listeners")]
    public string Listener { get; init; } = "public";

    [Setting("In-flight calls; as many more wait for a short time, all others get 503 with Retry-After.", Range = "1..100000")]
    public int MaxConcurrentCalls { get; init; } = 200;

    [Setting("Whether callers may send further requests on a connection; otherwise it is closed after each answer.")]
    public bool KeepAlive { get; init; } = true;

    [Setting("Changes to the headers of what comes in, as far as the list lets them through.")]
    public HeaderRewriteConfig RewriteHeaders { get; init; } = new();

    [Setting("Changes to the headers of what goes back.")]
    public HeaderRewriteConfig RewriteAnswerHeaders { get; init; } = new();

    [Setting("The largest body that is taken in; by default that of limits, and any size where requests are relayed.", Range = "1B..4GiB")]
    public ByteSize? MaxBodySize { get; init; }

    [Setting("How callers prove their party; one of these is enough. Without it any caller is accepted.")]
    public IReadOnlyList<CredentialKind> Authentication { get; init; } = [];

    [Setting("The parties that may call; by default every party with a credential that it accepts.", Reference = "parties")]
    public IReadOnlyList<string> Parties { get; init; } = [];

    [Setting("The header with the API key.")]
    public string ApiKeyHeader { get; init; } = "X-Api-Key";

    [Setting("How signed requests are written, where authentication is signature.")]
    public SignatureConfig Signature { get; init; } = new();

    [Setting("Calls of each party on each host; further ones get 429 with Retry-After. Callers without a party share one limit.")]
    public RateLimitConfig? RateLimit { get; init; }

    /// <summary>The accepted methods.</summary>
    public virtual IReadOnlyList<string> Methods { get; init; } = PostOnly;

    /// <summary>The accepted content types; empty for any.</summary>
    public virtual IReadOnlyList<string> Accept { get; init; } = [];

    /// <summary>The query parameters that become headers, by header name.</summary>
    public virtual IReadOnlyDictionary<string, string> Query { get; init; } = NoQuery;

    /// <summary>The form in which callers are told of failures.</summary>
    public virtual IFailureAnswers Failures => HttpProblems.Instance;

    /// <summary>True if its callers may prove who they are by a username token.</summary>
    public virtual bool ReadsUsernameTokens => false;

    public override int? CallsAtOnce => MaxConcurrentCalls;

    public override string TimeoutCode => "ESB-HTTP-TIMEOUT";

    public override IReadOnlyList<string> AddressPaths => [$"listeners.{Listener}.url", $"{Path}.path"];
}
