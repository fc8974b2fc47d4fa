using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;
using Esb.Core.Expressions;

namespace Esb.Workflows.Processes.Steps.Enriching;

/// <summary>Settings of the step <c>enrich</c>.</summary>
[ExactlyOne("call", "request")]
internal sealed record EnrichConfig : SettingsRecord
{
    [Setting("The call whose answer is taken: an outbound endpoint, or the settings of a call.")]
    public CallConfig? Call { get; init; }

    [Setting("The request whose reply is taken: a subject, or the settings of a request.")]
    public RequestConfig? Request { get; init; }

    [Setting("Where the answer goes; body and headers of the message stay otherwise.")]
    public required EnrichTargetConfig Into { get; init; }

    [Setting("Keeps answers for a time.")]
    public EnrichCacheConfig? Cache { get; init; }

    [Setting("The JSON that is taken where there is no answer; by default the message fails.")]
    public ConfigNode? Otherwise { get; init; }
}

/// <summary>Where an enrichment goes.</summary>
[ExactlyOne("property", "jsonpath", "map")]
internal sealed record EnrichTargetConfig : SettingsRecord
{
    [Setting("A property, as text.", Main = true)]
    public string? Property { get; init; }

    [Setting("A member of the JSON body, such as \"$.customer\"; a JSON answer as it is, any other as a text.")]
    public string? Jsonpath { get; init; }

    [Setting("A map that makes the new body of the message; it has the answer as the input answer.", Reference = "maps")]
    public string? Map { get; init; }
}

/// <summary>How long answers are kept.</summary>
internal sealed record EnrichCacheConfig : SettingsRecord
{
    [Setting("The key of an answer in the cache; a message without the value is not answered from it.")]
    public required ValueConfig Key { get; init; }

    [Setting("How long an answer is kept, on each host.", Range = "1s..7d")]
    public required TimeSpan For { get; init; }

    [Setting("How many answers are kept; the oldest goes first.", Range = "1..1000000")]
    public int MaxEntries { get; init; } = 10_000;
}
