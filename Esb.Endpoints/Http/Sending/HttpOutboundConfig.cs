using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;
using Esb.Core.Endpoints;
using Esb.Core.Expressions;
using Esb.Endpoints.Http.Targets;

namespace Esb.Endpoints.Http.Sending;

/// <summary>An endpoint that sends HTTP requests to one address, or to servers that share the work.</summary>
[AtMostOne("targets", "targetsFile")]
internal sealed record HttpOutboundConfig : HttpTargetingConfig
{
    [Setting("The method; relays keep that of their caller.")]
    public string Method { get; init; } = "POST";

    [Setting(
        "The path of requests, after the path of the url: a text with places for values, such as \"/customers/{property.id}\". Each "
            + "value is one segment, percent-encoded.",
        Name = "path"
    )]
    public string? RequestPath { get; init; }

    [Setting("Parameters of the query, by name; one without a value is left out.")]
    public IReadOnlyDictionary<string, ValueConfig> Query { get; init; } = new Dictionary<string, ValueConfig>();

    [Setting("Other places that a call may name, each with its url.", NamesThings = true)]
    public IReadOnlyDictionary<string, HttpTargetConfig> Targets { get; init; } = new Dictionary<string, HttpTargetConfig>();

    [Setting("A JSON file with the targets instead, which may change while the bus runs.", IsPath = true)]
    public string? TargetsFile { get; init; }

    [Setting(
        "What a relay reads and writes at once; each that is under way has two buffers of this size at most, an idle connection two "
            + "of 16 KiB.",
        Range = "32KiB..1MiB"
    )]
    public ByteSize BufferSize { get; init; } = new(64 * 1024);

    /// <inheritdoc/>
    public override ByteSize RelayBufferSize => BufferSize;

    /// <inheritdoc/>
    public override bool TakesRequests => true;

    /// <inheritdoc/>
    public override bool TakesStreams => PreparedBy is null && !BodyReads.InTemplate(RequestPath) && !Query.Values.Any(BodyReads.InValue);

    /// <inheritdoc/>
    public override IEnumerable<PropertyUse> PropertyUses =>
        [
            .. PropertyNames.InTemplate(RequestPath ?? "").Select(name => new PropertyUse("path", name)),
            .. Query.SelectMany(
                parameter => PropertyNames.Of(parameter.Value),
                (parameter, name) => new PropertyUse($"query.{parameter.Key}", name)
            ),
        ];

    /// <inheritdoc/>
    public override bool HasTargets => Targets.Count > 0 || TargetsFile is not null;

    /// <inheritdoc/>
    public override bool MayHaveTarget(string name) => TargetsFile is not null || Targets.ContainsKey(name);
}
