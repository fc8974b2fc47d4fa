using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;
using Esb.Endpoints.Http;
using Esb.Endpoints.Http.Refusals;

namespace Esb.Endpoints.Soap.Receiving;

/// <summary>An endpoint that serves the operations of a WSDL.</summary>
[ExactlyOne("process", "publish", "relay", "workflow", "itinerary", "operations")]
internal sealed record SoapInboundConfig : ListeningEndpointConfig
{
    private static readonly string[] PostAndGet = ["POST", "GET"]; // GET for the WSDL

    [Setting(
        "The WSDL 1.1 of the service; what it imports stands in the same folder or below. It is served at ?wsdl, with the address "
            + "under which it was asked.",
        IsPath = true
    )]
    public string? Wsdl { get; init; }

    [Setting("The process of each operation, by the operation's name in the WSDL; others are refused.", Reference = "processes")]
    public IReadOnlyDictionary<string, string> Operations { get; init; } = new Dictionary<string, string>();

    [Setting("Whether requests and answers are validated with the schemas of the WSDL.")]
    public bool Validate { get; init; } = true;

    [Setting("The headers of envelopes, by local name, that processes understand; they find them as the properties soap.header.NAME.")]
    public IReadOnlyList<string> Understands { get; init; } = [];

    [Setting("The largest size of all headers of an envelope together.", Range = "1KiB..1MiB")]
    public ByteSize MaxHeaderSize { get; init; } = new(64 * 1024);

    /// <inheritdoc/>
    public override IReadOnlyList<string> Methods => PostAndGet;

    /// <inheritdoc/>
    public override IFailureAnswers Failures => SoapFailures.Instance;

    /// <inheritdoc/>
    public override bool ReadsUsernameTokens => true;

    /// <inheritdoc/>
    public override IReadOnlyList<string> Processes => [.. base.Processes, .. Operations.Values.Distinct()];
}
