using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;
using Esb.Core.Errors;
using Esb.Core.Expressions;
using Esb.Core.Messages;
using Esb.Core.Processes;

namespace Esb.Workflows.Processes.Steps;

/// <summary>Settings of the step <c>set</c>.</summary>
internal sealed record SetConfig : SettingsRecord
{
    [Setting("Headers to set; one without a value is removed.")]
    public IReadOnlyDictionary<string, ValueConfig> Headers { get; init; } = new Dictionary<string, ValueConfig>();

    [Setting("Properties to set, for later steps; one without a value is removed.")]
    public IReadOnlyDictionary<string, ValueConfig> Properties { get; init; } = new Dictionary<string, ValueConfig>();

    [Setting("Variables of the workflow to set; one without a value is removed.")]
    public IReadOnlyDictionary<string, ValueConfig> Variables { get; init; } = new Dictionary<string, ValueConfig>();

    [Setting("The variable of the workflow whose message becomes the current one.")]
    public string? Use { get; init; }

    [Setting("State to keep for later messages of the endpoint, by name, once the process has succeeded; one without a value is removed.")]
    public IReadOnlyDictionary<string, ValueConfig> State { get; init; } = new Dictionary<string, ValueConfig>();

    [Setting("The new body; without a value it is empty. An object or array is JSON, anything else text.")]
    public ValueConfig? Body { get; init; }

    [Setting(
        "The media type of the new body; by default application/json for a constant object or array and for what a JSONPath "
            + "selects, otherwise text/plain."
    )]
    public string? ContentType { get; init; }
}

/// <summary>Sets headers, properties, state and the body from values of the message; all values are read before any is set.</summary>
internal sealed class SetStep : StepFactory<SetConfig>
{
    public override string Kind => "set";

    protected override StepModel Compile(SetConfig settings, StepConfig step, IStepCompiler compiler)
    {
        HeaderNames.Check(settings.Headers.Keys, $"{step.Path}.headers", step.Origin, compiler.Errors);
        var headers = Compile(settings.Headers, compiler);
        var properties = Compile(settings.Properties, compiler);
        var variables = Compile(settings.Variables, compiler);
        if (!compiler.IsWorkflow && settings.Variables.Count > 0)
            compiler.Errors.Add("ESB-CFG-VALUE", settings, "variables", "only a workflow has variables; a process has properties");
        if (!compiler.IsWorkflow && settings.Use is not null)
            compiler.Errors.Add("ESB-CFG-VALUE", settings, "use", "only a workflow has variables");
        var states = Compile(settings.State, compiler);
        foreach (var name in settings.State.Keys.Where(name => name.Length is 0 or > 100))
            compiler.Errors.Add(
                "ESB-CFG-NAME",
                ConfigNode.Join($"{step.Path}.state", name),
                "expected a name of 1 to 100 characters",
                step.Origin
            );
        if (compiler.IsWorkflow && settings.State.Count > 0)
            compiler.Errors.Add("ESB-CFG-VALUE", settings, "state", "a workflow has variables; only a process keeps state");
        var body = settings.Body is null ? null : compiler.Expressions.Compile(settings.Body, compiler.Errors);
        if (settings is { ContentType: not null, Body: null })
            compiler.Errors.Add("ESB-CFG-VALUE", settings, "contentType", "only beside body");
        else if (settings.ContentType is { } written && !HeaderRules.IsValue(written))
            compiler.Errors.Add("ESB-CFG-VALUE", settings, "contentType", "expected a media type such as text/html");
        var contentType = settings.ContentType ?? (IsJson(settings.Body) ? "application/json" : "text/plain; charset=utf-8");
        return new StepModel(step, "set")
        {
            Traits = new StepTraits
            {
                Values =
                [
                    .. settings.Headers.Values,
                    .. settings.Properties.Values,
                    .. settings.State.Values,
                    .. settings.Body is null ? (IEnumerable<ValueConfig>)[] : [settings.Body],
                ],
                ReplacesBody = settings.Body is not null || settings.Use is not null,
                Streams = settings is { Body: null, Use: null },
                ChangesState = [.. settings.State.Keys],
            },
            Bind =
                headers is null || properties is null || variables is null || states is null || (body is null && settings.Body is not null)
                    ? null
                    : _ => Run,
        };

        ValueTask Run(MessageContext context, CancellationToken cancellationToken)
        {
            if (settings.Use is { } used)
                context.Message = MessageOf(used, context);
            var variableValues = Array.ConvertAll(variables, variable => variable.Value.Evaluate(context));
            var headerValues = Array.ConvertAll(headers, header => MessageValues.AsText(header.Value.Evaluate(context)));
            var propertyValues = Array.ConvertAll(properties, property => property.Value.Evaluate(context));
            var stateValues = Array.ConvertAll(states, state => state.Value.Evaluate(context));
            var changed =
                // may throw; then nothing is set
                headers.Length == 0
                    ? null
                    : context.Message with
                    {
                        Headers = Set(context.Message.Headers, headers, headerValues),
                    };
            if (body is not null)
                changed = (changed ?? context.Message) with
                {
                    Body = MessageBody.FromText(MessageValues.AsText(body.Evaluate(context)) ?? ""),
                    ContentType = contentType,
                };
            for (var i = 0; i < variables.Length; i++)
                context.Variables!.Set(variables[i].Name, variableValues[i]);
            for (var i = 0; i < properties.Length; i++)
                context.SetProperty(properties[i].Name, propertyValues[i]);
            for (var i = 0; i < states.Length; i++)
                context.End!.Change(states[i].Name, stateValues[i]);
            if (changed is not null)
                context.Message = changed; // after the properties, which may hold a removed header
            return ValueTask.CompletedTask;
        }
    }

    private static EsbMessage MessageOf(string variable, MessageContext context) =>
        context.Variables!.Find(variable) switch
        {
            EsbMessage message => message,
            IReadOnlyList<EsbMessage> messages => context.Message with
            {
                Body = MessageBody.FromText(MessageLists.ToJson(messages)),
                ContentType = "application/json",
            },
            null => throw new EsbException("ESB-WFL-VARIABLE", $"The variable '{variable}' is not set.", FaultKind.Invalid),
            _ => throw new EsbException("ESB-WFL-VARIABLE", $"The variable '{variable}' holds a value, not a message.", FaultKind.Invalid),
        };

    private static bool IsJson(ValueConfig? body) =>
        body is { Jsonpath: not null } or { Value.Kind: ConfigKind.Object or ConfigKind.Array };

    private static (string Name, IMessageValue Value)[]? Compile(IReadOnlyDictionary<string, ValueConfig> values, IStepCompiler compiler)
    {
        var compiled = values.Select(value => (value.Key, Value: compiler.Expressions.Compile(value.Value, compiler.Errors))).ToList();
        return compiled.Any(value => value.Value is null) ? null : [.. compiled.Select(value => (value.Key, value.Value!))];
    }

    private static MessageHeaders Set(MessageHeaders all, (string Name, IMessageValue Value)[] headers, string?[] values)
    {
        for (var i = 0; i < headers.Length; i++)
        {
            var (name, value) = (headers[i].Name, values[i]);
            if (value is not null && !HeaderRules.IsValue(value))
                throw new EsbException("ESB-HDR-VALUE", $"The value for the header '{name}' has control characters.", FaultKind.Invalid);
            all = value is null ? all.Without(name) : all.With(name, value);
        }

        return all;
    }
}
