using Esb.Content.Schemas;
using Esb.Core.Configuration.Settings;
using Esb.Core.Processes;

namespace Esb.Workflows.Processes.Steps;

/// <summary>Settings of the step <c>validate</c>.</summary>
internal sealed record ValidateConfig : SettingsRecord
{
    [Setting("The schema that the body must pass.", Main = true, Reference = "schemas")]
    public required string Schema { get; init; }
}

/// <summary>Fails messages whose body breaks a schema.</summary>
internal sealed class ValidateStep(ISchemaCatalog schemas) : StepFactory<ValidateConfig>
{
    public override string Kind => "validate";

    protected override CompiledStep? Compile(ValidateConfig settings, StepConfig step, IStepCompiler compiler)
    {
        if (schemas.Find(settings.Schema) is not { } schema) return null; // reported by the schemas' own check
        return new CompiledStep(Run, $"validate({settings.Schema})");

        ValueTask Run(MessageContext context, CancellationToken cancellationToken)
        {
            schema.Validate(context.Message);
            return ValueTask.CompletedTask;
        }
    }
}
