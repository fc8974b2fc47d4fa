using Esb.Configuration;
using Esb.Content.Formats;
using Esb.Content.Formats.Conversion;
using Esb.Content.Schemas;
using Esb.Core.Configuration.Settings;
using Esb.Core.Processes;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Workflows.Processes.Steps;

/// <summary>Settings of the step <c>convert</c>.</summary>
internal sealed record ConvertConfig : SettingsRecord
{
    [Setting("The form of the body: xml, json or a format. By default its content type decides, or its first byte.")]
    public string? From { get; init; }

    [Setting("The form to make of it: xml, json or a format.", Main = true)]
    public required string To { get; init; }

    [Setting("From XML to JSON: names of elements that are arrays even if they occur once.")]
    public IReadOnlyList<string> Arrays { get; init; } = [];

    [Setting(
        "From XML to JSON: the JSON Schema of the result, or the XML Schema of what is converted. Values become numbers, booleans, null "
            + "and arrays where it names these types; by default every value is a text.",
        Reference = "schemas"
    )]
    public string? Types { get; init; }

    [Setting("The root element of XML; by default the only member of the JSON, or the name of the format.")]
    public string? Root { get; init; }
}

/// <summary>Replaces the body by the same content in another form (pattern: Message Translator).</summary>
internal sealed class ConvertStep(ContentConverter converter, SchemaModels schemas) : StepFactory<ConvertConfig>
{
    public override string Kind => "convert";

    protected override StepModel Compile(ConvertConfig settings, StepConfig step, IStepCompiler compiler)
    {
        if (settings.From is { } from)
            Check("from", from);
        Check("to", settings.To);
        if (settings.Root is "")
            compiler.Errors.Add("ESB-CFG-VALUE", settings, "root", "expected the name of an element");
        CheckTypes(settings, compiler);
        var options = new ConversionOptions { Arrays = settings.Arrays.ToHashSet(), Root = settings.Root };
        return new StepModel(step, settings.From is null ? $"convert({settings.To})" : $"convert({settings.From}, {settings.To})")
        {
            Traits = new StepTraits
            {
                Transforms = true,
                Reads = ReadingOf(settings),
                ReplacesBody = true,
            },
            Bind =
                IsUsable(settings.From) && IsUsable(settings.To) && (settings.Types is null || schemas.Has(settings.Types))
                    ? services => Run(settings, options, SchemaOf(settings, services))
                    : null,
        };

        void Check(string property, string form)
        {
            if (converter.Knows(form) || !settings.IsSound(property))
                return;
            compiler.Errors.Add(
                "ESB-CFG-REF",
                settings,
                property,
                $"there is no such format; expected one of {string.Join(", ", converter.Forms)}{NearestName.Hint(form, converter.Forms)}"
            );
        }
    }

    private static IMessageSchema? SchemaOf(ConvertConfig settings, IServiceProvider services) =>
        settings.Types is { } schema ? services.GetRequiredService<ISchemaCatalog>().Find(schema) : null;

    // The schema follows its file, so its types are asked for with each message.
    private MessageStep Run(ConvertConfig settings, ConversionOptions options, IMessageSchema? schema) =>
        (context, _) =>
        {
            var body = context.Message.Body;
            var from = settings.From ?? converter.FormOf(body, context.Message.ContentType);
            var made = converter.Convert(body, from, settings.To, schema is null ? options : options with { Types = schema.Types });
            context.Message = context.Message with { Body = made.Body, ContentType = made.ContentType };
            return ValueTask.CompletedTask;
        };

    private void CheckTypes(ConvertConfig settings, IStepCompiler compiler)
    {
        if (settings.Types is null)
            return;
        if (settings.From is not (null or ContentForms.Xml) || settings.To == ContentForms.Xml)
            compiler.Errors.Add("ESB-CFG-VALUE", settings, "types", "only from XML to JSON");
    }

    private bool IsUsable(string? form) => form is null or ContentForms.Json or ContentForms.Xml || converter.Find(form) is not null;

    private static BodyReading? ReadingOf(ConvertConfig settings) =>
        settings.From switch
        {
            ContentForms.Json => new BodyReading(settings, "from", MadeKind.Json),
            ContentForms.Xml => new BodyReading(settings, "from", MadeKind.Xml),
            _ => null,
        };
}
