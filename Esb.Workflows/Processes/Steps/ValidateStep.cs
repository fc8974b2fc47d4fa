using Esb.Content.Schemas;
using Esb.Core.Configuration.Settings;
using Esb.Core.Processes;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Workflows.Processes.Steps;

/// <summary>Settings of the step <c>validate</c>.</summary>
internal sealed record ValidateConfig : SettingsRecord
{
    [Setting("The schema that the body must pass.", Main = true, Reference = "schemas")]
    public required string Schema { get; init; }
}

/// <summary>Fails messages whose body violates a schema.</summary>
internal sealed class ValidateStep(SchemaModels schemas) : StepFactory<ValidateConfig>
{
    public override string Kind => "validate";

    // A missing schema has been reported.
    protected override StepModel Compile(ValidateConfig settings, StepConfig step, IStepCompiler compiler) =>
        new(step, $"validate({settings.Schema})")
        {
            Traits = new StepTraits
            {
                Reads = new BodyReading(settings, "schema", schemas.IsJson(settings.Schema) ? MadeKind.Json : MadeKind.Xml),
            },
            Bind = schemas.Has(settings.Schema)
                ? services => Run(services.GetRequiredService<ISchemaCatalog>().Find(settings.Schema)!)
                : null,
        };

    private static MessageStep Run(IMessageSchema schema) =>
        (context, _) =>
        {
            schema.Validate(context.Message);
            return ValueTask.CompletedTask;
        };
}
