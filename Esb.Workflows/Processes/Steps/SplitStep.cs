using Esb.Configuration;
using Esb.Content.Splitting;
using Esb.Core.Processes;
using Esb.Core.Storage;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Workflows.Processes.Steps;

/// <summary>Runs steps with each item of the body (pattern: Splitter). Items run one after the other, in their order.</summary>
internal sealed class SplitStep(SplitterCompiler splitters, LimitsConfig limits) : StepFactory<SplitConfig>
{
    public override string Kind => "split";

    protected override StepModel Compile(SplitConfig settings, StepConfig step, IStepCompiler compiler)
    {
        var splitter = CompileSplitter(settings, compiler);
        var steps = compiler.Compile(settings.Steps);
        if (settings.Steps.Count == 0 && settings.IsSound("steps"))
            compiler.Errors.Add("ESB-CFG-VALUE", settings, "steps", "expected at least one step");
        return new StepModel(step, $"split({settings.Format ?? settings.Jsonpath ?? settings.Xpath}: {steps.Description})")
        {
            Traits = new StepTraits
            {
                Divides = true,
                ReplacesBody = settings.Gather is not null,
                Reads = settings.Xpath is not null ? new BodyReading(settings, "xpath", MadeKind.Xml)
                    : settings.Jsonpath is not null ? new BodyReading(settings, "jsonpath", MadeKind.Json)
                    : null,
            },
            Lists = [steps],
            Bind = splitter is null ? null : services =>
            {
                var run = new SplitItems(
                    step.Place,
                    steps.Bind(services),
                    services.GetRequiredService<IDeadLetterChannel>(),
                    services.GetRequiredService<TimeProvider>());
                return (context, cancellationToken) => new SplitRun(splitter, run, settings, 4 * limits.MaxBodySize.Bytes).RunAsync(context, cancellationToken);
            },
        };
    }

    private IMessageSplitter? CompileSplitter(SplitConfig settings, IStepCompiler compiler) => settings switch
    {
        { Xpath: { } xpath } => splitters.ByXPath(settings, xpath, compiler.Errors),
        { Jsonpath: { } jsonpath } => splitters.ByJsonPath(settings, jsonpath, compiler.Errors),
        { Format: { } format } => splitters.ByFormat(settings, format, compiler.Errors),
        _ => null, // reported
    };
}
