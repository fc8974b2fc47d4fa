using Esb.Content.Transforms;
using Esb.Core.Configuration.Settings;
using Esb.Core.Errors;
using Esb.Core.Expressions;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Workflows.Processes.Steps;

/// <summary>Settings of the step <c>script</c>.</summary>
internal sealed record ScriptConfig : SettingsRecord
{
    [Setting("The JavaScript map to run.", Main = true, Reference = "maps")]
    public required string Map { get; init; }

    [Setting(
        "Values for the script, in context.parameters: texts, numbers and truth values, never parsed. One without a value is left out."
    )]
    public IReadOnlyDictionary<string, ValueConfig> Parameters { get; init; } = new Dictionary<string, ValueConfig>();
}

/// <summary>Runs a JavaScript map, whose result replaces the parts of the message that it names: <c>body</c>, <c>headers</c>,
/// <c>properties</c>.</summary>
internal sealed class ScriptStep(MapModels maps) : StepFactory<ScriptConfig>
{
    public override string Kind => "script";

    protected override StepModel Compile(ScriptConfig settings, StepConfig step, IStepCompiler compiler)
    {
        var map = maps.Find(settings.Map); // a missing map has been reported
        if (map is not null and not IScriptMap)
            compiler.Errors.Add("ESB-CFG-REF", settings, "map", $"'{settings.Map}' is no JavaScript map (.js)");
        var arguments = TransformArguments.Compile(settings.Parameters, compiler);
        return new StepModel(step, $"script({settings.Map})")
        {
            Traits = new StepTraits
            {
                Transforms = true,
                Values = [.. settings.Parameters.Values],
                ReplacesBody = true,
            },
            Bind =
                map is not IScriptMap || arguments is null
                    ? null
                    : services => Run((IScriptMap)services.GetRequiredService<IMapCatalog>().Find(settings.Map)!, arguments),
        };

        MessageStep Run(IScriptMap live, TransformArguments given) =>
            async (context, cancellationToken) =>
                Apply(await live.ChangeAsync(new MapCall(context), given.Evaluate(context), cancellationToken), context, settings.Map);
    }

    private static void Apply(MessageChanges changes, MessageContext context, string map)
    {
        var headers = Set(context.Message.Headers, changes.Headers); // may throw; then nothing is set
        foreach (var (name, value) in changes.Properties)
            context.SetProperty(name, value);
        context.Message = changes.Body is { } body
            ? context.Message with
            {
                Headers = headers,
                Body = body.Body,
                ContentType = body.ContentType,
            }
            : context.Message with
            {
                Headers = headers,
            };
        if (changes.Body is { } made)
            context.Made = new MadeBody(made.Body, map, made.Kind);
    }

    private static MessageHeaders Set(MessageHeaders headers, IReadOnlyList<KeyValuePair<string, string?>> changes)
    {
        foreach (var (name, value) in changes)
        {
            if (value is not null && !HeaderRules.IsValue(value))
                throw new EsbException("ESB-HDR-VALUE", $"The value for the header '{name}' has control characters.", FaultKind.Invalid);
            headers = value is null ? headers.Without(name) : headers.With(name, value);
        }

        return headers;
    }
}
