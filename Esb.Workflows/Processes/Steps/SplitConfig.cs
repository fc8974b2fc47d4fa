using Esb.Core.Configuration.Settings;
using Esb.Core.Processes;

namespace Esb.Workflows.Processes.Steps;

/// <summary>Settings of the step <c>split</c>.</summary>
[ExactlyOne("xpath", "jsonpath", "format", "entries")]
internal sealed record SplitConfig : SettingsRecord
{
    [Setting("An XPath of elements: each, with the namespaces in scope, is an item.")]
    public string? Xpath { get; init; }

    [Setting("A JSONPath: each value that it selects is an item.")]
    public string? Jsonpath { get; init; }

    [Setting("A format: each of its records is an item, in JSON.", Reference = "formats")]
    public string? Format { get; init; }

    [Setting("true: each file of a decoded archive, or each further part of a decoded MIME body, is an item.")]
    public bool? Entries { get; init; }

    [Setting("What a failing item means: it becomes a dead letter, and the others continue; or all items take effect or none.")]
    public SplitMode Mode { get; init; }

    [Setting(
        "How many items may fail; one more fails the message, and the items before it stay published. No limit by default.",
        Range = "0..2147483647"
    )]
    public int? MaxFailed { get; init; }

    [Setting(
        "Items whose steps run at once. With more than one, an item may overtake another; of items with the same order key only where a "
            + "step before publish waits.",
        Range = "1..256"
    )]
    public int MaxConcurrentItems { get; init; } = 1;

    [Setting("Makes the results of the items the body: array, a JSON array of them in their order. By default the body stays.")]
    public GatheredItems? Gather { get; init; }

    [Setting("The steps that run with each item.")]
    public required IReadOnlyList<StepConfig> Steps { get; init; }
}

/// <summary>Meanings of a failing item.</summary>
internal enum SplitMode
{
    /// <summary>It becomes a dead letter.</summary>
    Each,

    /// <summary>No item takes effect.</summary>
    AllOrNothing,
}

/// <summary>Forms of gathered results.</summary>
internal enum GatheredItems
{
    /// <summary>A JSON array.</summary>
    Array,
}
