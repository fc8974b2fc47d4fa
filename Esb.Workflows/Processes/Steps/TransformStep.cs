using Esb.Content.Transforms;
using Esb.Core.Configuration.Settings;
using Esb.Core.Processes;

namespace Esb.Workflows.Processes.Steps;

/// <summary>Settings of the step <c>transform</c>.</summary>
internal sealed record TransformConfig : SettingsRecord
{
    [Setting("The map to apply to the body.", Main = true, Reference = "maps")]
    public required string Map { get; init; }
}

/// <summary>Replaces the body by what a map makes of it (pattern: Message Translator).</summary>
internal sealed class TransformStep(IMapCatalog maps) : StepFactory<TransformConfig>
{
    public override string Kind => "transform";

    protected override CompiledStep? Compile(TransformConfig settings, StepConfig step, IStepCompiler compiler)
    {
        if (maps.Find(settings.Map) is not { } map) return null; // reported by the maps' own check
        return new CompiledStep(Run, $"transform({settings.Map})");

        ValueTask Run(MessageContext context, CancellationToken cancellationToken)
        {
            context.Message = context.Message with { Body = map.Transform(context.Message.Body), ContentType = map.ContentType };
            return ValueTask.CompletedTask;
        }
    }
}
