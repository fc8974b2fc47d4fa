using Esb.Content.Transforms;
using Esb.Core.Configuration.Settings;
using Esb.Core.Expressions;
using Esb.Core.Processes;

namespace Esb.Workflows.Processes.Steps;

/// <summary>Settings of the step <c>transform</c>.</summary>
internal sealed record TransformConfig : SettingsRecord, ITakesValues, ITransforms
{
    [Setting("The map to apply to the body.", Main = true, Reference = "maps")]
    public required string Map { get; init; }

    [Setting("Values for the map's parameters: texts, numbers and truth values, never parsed. One without a value leaves the map's default.")]
    public IReadOnlyDictionary<string, ValueConfig> Parameters { get; init; } = new Dictionary<string, ValueConfig>();

    [Setting("Further XML documents for the map, each under the name of a parameter, which stands for the document's root.")]
    public IReadOnlyDictionary<string, ValueConfig> Inputs { get; init; } = new Dictionary<string, ValueConfig>();

    public IEnumerable<IValueSource> Values => Parameters.Values.Concat(Inputs.Values);
}

/// <summary>Replaces the body by what a map makes of it (pattern: Message Translator), and of further documents (Content Enricher).</summary>
internal sealed class TransformStep(IMapCatalog maps) : StepFactory<TransformConfig>
{
    public override string Kind => "transform";

    protected override CompiledStep? Compile(TransformConfig settings, StepConfig step, IStepCompiler compiler)
    {
        if (maps.Find(settings.Map) is not { } map) return null; // reported by the maps' own check
        if (TransformArguments.Compile(settings, map, compiler) is not { } arguments) return null;
        return new CompiledStep(Run, $"transform({settings.Map})");

        ValueTask Run(MessageContext context, CancellationToken cancellationToken)
        {
            var made = map.Transform(context.Message.Body, arguments.Evaluate(context));
            context.Message = context.Message with { Body = made.Body, ContentType = made.ContentType };
            context.Made = new MadeBody(made.Body, settings.Map, made.Kind);
            return ValueTask.CompletedTask;
        }
    }
}
