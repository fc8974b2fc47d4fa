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

/// <summary>Fails messages whose body violates a schema.</summary>
internal sealed class ValidateStep(ISchemaCatalog schemas) : StepFactory<ValidateConfig>
{
    public override string Kind => "validate";

    protected override StepModel Compile(ValidateConfig settings, StepConfig step, IStepCompiler compiler)
    {
        var schema = schemas.Find(settings.Schema); // a missing schema has been reported
        return new StepModel(step, $"validate({settings.Schema})")
        {
            Traits = new StepTraits { Reads = new BodyReading(settings, "schema", MadeKind.Xml) },
            Bind = schema is null ? null : _ => Run,
        };

        ValueTask Run(MessageContext context, CancellationToken cancellationToken)
        {
            schema.Validate(context.Message);
            return ValueTask.CompletedTask;
        }
    }
}
