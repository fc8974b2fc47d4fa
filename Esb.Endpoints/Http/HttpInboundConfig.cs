using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;
using Esb.Core.Endpoints;
using Esb.Core.Messages;
using Esb.Endpoints.Http.Access;
using Esb.Endpoints.Http.Access.Signatures;
using Esb.Endpoints.Http.Relaying;

namespace Esb.Endpoints.Http;

/// <summary>An endpoint that answers requests of HTTP.</summary>
internal sealed record HttpInboundConfig : InboundEndpointConfig, IRewritesHeaders
{
    [Setting("The path that it answers at, exactly as written.", Name = "path")]
    public required string RequestPath { get; init; }

    [Setting("The methods that it answers.")]
    public IReadOnlyList<string> Methods { get; init; } = ["POST"];

    [Setting("The content types that it takes, such as \"application/xml\" or \"text/*\"; by default any.")]
    public IReadOnlyList<string> Accept { get; init; } = [];

    [Setting("Parameters of the query that become headers of the message, by the header's name: { \"x-customer\": \"customer\" }. Such a header comes from nowhere else.")]
    public IReadOnlyDictionary<string, string> Query { get; init; } = new Dictionary<string, string>();

    [Setting("The listener that it is reached by.", Reference = "listeners")]
    public string Listener { get; init; } = "public";

    [Setting("Calls worked on at once; as many more wait for a short time, all others are told to come back later.", Range = "1..100000")]
    public int MaxConcurrentCalls { get; init; } = 200;

    public override int? CallsAtOnce => MaxConcurrentCalls;

    [Setting("Whether a request with the header Idempotency-Key is worked on once only: its repetitions get the answer of the first. Relays pass the header on.")]
    public bool Idempotency { get; init; } = true;

    [Setting("Where a relay sends requests instead, by what is in them: the first route counts whose condition holds.")]
    public IReadOnlyList<RelayRouteConfig> Routes { get; init; } = [];

    [Setting("Whether a relay tells the outside in Via and X-Forwarded-For, -Proto and -Host by whom, and how, it was asked.")]
    public bool Forwarded { get; init; } = true;

    [Setting("Whether callers may send further requests on a connection; otherwise it is closed after each answer.")]
    public bool KeepAlive { get; init; } = true;

    [Setting("Changes to the headers of what comes in, as far as the list lets them through.")]
    public HeaderRewriteConfig RewriteHeaders { get; init; } = new();

    [Setting("Changes to the headers of what goes back.")]
    public HeaderRewriteConfig RewriteAnswerHeaders { get; init; } = new();

    [Setting("The largest body that is taken in; by default that of limits, and any size where requests are relayed.", Range = "1B..1GiB")]
    public ByteSize? MaxBodySize { get; init; }

    [Setting("What callers prove with which party they are; any one of these will do. Without it anybody may call.")]
    public IReadOnlyList<CredentialKind> Authentication { get; init; } = [];

    [Setting("The parties that may call; by default all that can prove it.", Reference = "parties")]
    public IReadOnlyList<string> Parties { get; init; } = [];

    [Setting("The header with the API key.")]
    public string ApiKeyHeader { get; init; } = "X-Api-Key";

    [Setting("How signed requests are written, where authentication is signature.")]
    public SignatureConfig Signature { get; init; } = new();

    [Setting("How many calls a party may make on each host; further ones are told to come back later. Callers without a party share it.")]
    public RateLimitConfig? RateLimit { get; init; }
}
