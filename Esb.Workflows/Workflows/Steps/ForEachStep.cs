using Esb.Content.Splitting;
using Esb.Core.Configuration.Settings;
using Esb.Core.Processes;
using Esb.Workflows.Workflows.Compiling;

namespace Esb.Workflows.Workflows.Steps;

/// <summary>The items of a <c>forEach</c>.</summary>
[ExactlyOne("xpath", "jsonpath")]
internal sealed record ItemsConfig : SettingsRecord
{
    [Setting("An XPath of elements: each is an item.")]
    public string? Xpath { get; init; }

    [Setting("A JSONPath: each value that it selects is an item.")]
    public string? Jsonpath { get; init; }

    [Setting("The variable whose message is divided; by default the current message.")]
    public string? Of { get; init; }
}

/// <summary>Settings of the step <c>forEach</c>.</summary>
internal sealed record ForEachConfig : SettingsRecord
{
    [Setting("The items of the message.")]
    public required ItemsConfig Items { get; init; }

    [Setting("The steps that run with each item as the current message, one item after the other.")]
    public required IReadOnlyList<StepConfig> Steps { get; init; }
}

/// <summary>Runs steps with each item of a message; the steps may wait.</summary>
internal sealed class ForEachStep(SplitterCompiler splitters) : DurableStep<ForEachConfig>
{
    public override string Kind => "forEach";

    protected override StepModel CompileDurable(ForEachConfig settings, StepConfig step, IStepCompiler compiler)
    {
        var items = settings.Items switch
        {
            { Xpath: { } xpath } => splitters.ByXPath(settings.Items, xpath, compiler.Errors),
            { Jsonpath: { } jsonpath } => splitters.ByJsonPath(settings.Items, jsonpath, compiler.Errors),
            _ => null, // reported
        };
        var steps = compiler.Compile(settings.Steps);
        return Model(
            step,
            $"forEach({steps.Description})",
            new ForEachFlow(items, settings.Items.Of, steps),
            items is not null,
            new StepTraits { Divides = true },
            steps
        );
    }
}
