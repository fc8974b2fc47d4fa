using Esb.Content.Transforms;
using Esb.Core.Configuration.Settings;
using Esb.Core.Expressions;
using Esb.Core.Processes;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Workflows.Processes.Steps;

/// <summary>Settings of the step <c>transform</c>.</summary>
internal sealed record TransformConfig : SettingsRecord
{
    [Setting("The map to apply to the body.", Main = true, Reference = "maps")]
    public required string Map { get; init; }

    [Setting(
        "Values for the map's parameters: texts, numbers and truth values, never parsed. One without a value leaves the map's "
            + "default. A script has them in context.parameters."
    )]
    public IReadOnlyDictionary<string, ValueConfig> Parameters { get; init; } = new Dictionary<string, ValueConfig>();

    [Setting(
        "Further documents for the map: XML for a stylesheet, each under the name of a parameter, which stands for the document's "
            + "root; of any kind for a script, in context.inputs."
    )]
    public IReadOnlyDictionary<string, ValueConfig> Inputs { get; init; } = new Dictionary<string, ValueConfig>();
}

/// <summary>Replaces the body by the output of a map (pattern: Message Translator), which may read further documents (Content
/// Enricher).</summary>
internal sealed class TransformStep(MapModels maps) : StepFactory<TransformConfig>
{
    public override string Kind => "transform";

    protected override StepModel Compile(TransformConfig settings, StepConfig step, IStepCompiler compiler)
    {
        var map = maps.Find(settings.Map); // a missing map has been reported
        var arguments = map is null ? null : TransformArguments.Compile(settings, map, compiler);
        return new StepModel(step, $"transform({settings.Map})")
        {
            Traits = new StepTraits
            {
                Transforms = true,
                Values = [.. settings.Parameters.Values, .. settings.Inputs.Values],
                Reads = map?.Reads is { } kind ? new BodyReading(settings, "map", kind) : null,
                ReplacesBody = true,
                Makes = map?.Makes is { } made ? new MapOutput(settings.Map, made) : null,
            },
            Bind = arguments is null ? null : services => Run(services.GetRequiredService<IMapCatalog>().Find(settings.Map)!, arguments),
        };

        MessageStep Run(IMessageMap live, TransformArguments given) =>
            async (context, cancellationToken) =>
            {
                var made = await live.TransformAsync(new MapCall(context), given.Evaluate(context), cancellationToken);
                context.Message = context.Message with { Body = made.Body, ContentType = made.ContentType };
                context.Made = new MadeBody(made.Body, settings.Map, made.Kind);
            };
    }
}
