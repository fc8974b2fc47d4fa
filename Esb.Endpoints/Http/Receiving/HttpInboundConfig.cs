using Esb.Core.Configuration.Settings;
using Esb.Core.Endpoints;
using Esb.Endpoints.Http.Relaying;

namespace Esb.Endpoints.Http.Receiving;

/// <summary>An endpoint that answers HTTP requests.</summary>
internal sealed record HttpInboundConfig : ListeningEndpointConfig
{
    [Setting("The methods that it answers.")]
    public override IReadOnlyList<string> Methods { get; init; } = ["POST"];

    [Setting("The content types that it takes, such as \"application/xml\" or \"text/*\"; by default any.")]
    public override IReadOnlyList<string> Accept { get; init; } = [];

    [Setting(
        "Parameters of the query that become headers of the message, by the header's name: { \"x-customer\": \"customer\" }. Such a "
            + "header comes from nowhere else."
    )]
    public override IReadOnlyDictionary<string, string> Query { get; init; } = new Dictionary<string, string>();

    [Setting(
        "Whether a request with the header Idempotency-Key is worked on once only: its repetitions get the answer of the first. "
            + "Relays pass the header on."
    )]
    public bool Idempotency { get; init; } = true;

    [Setting("Whether a body is held in memory as a whole, or is read by a call of an endpoint that writes files.")]
    public BodyTransfer Transfer { get; init; }

    public override BodyTransfer BodyTransfer => Transfer;

    public override bool RereadsBodies => false;

    [Setting("Where a relay sends requests instead, by what is in them: the first route counts whose condition holds.")]
    public IReadOnlyList<RelayRouteConfig> Routes { get; init; } = [];

    [Setting("Whether a relay sends Via and X-Forwarded-For, -Proto and -Host to the external system.")]
    public bool Forwarded { get; init; } = true;

    public override IEnumerable<string> Relays => base.Relays.Concat(Routes.Select(route => route.Relay));
}
