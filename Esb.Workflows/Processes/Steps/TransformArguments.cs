using Esb.Configuration;
using Esb.Content.Transforms;
using Esb.Core.Configuration;
using Esb.Core.Expressions;
using Esb.Core.Messages;
using Esb.Core.Processes;

namespace Esb.Workflows.Processes.Steps;

/// <summary>The arguments that a <c>transform</c> step passes to its map.</summary>
internal sealed class TransformArguments
{
    private const string Code = "ESB-XSL-PARAM";

    private readonly List<(string Name, IMessageValue Value, bool IsDocument)> _arguments = [];

    private TransformArguments() { }

    /// <summary>Compiles the arguments; null after an error.</summary>
    public static TransformArguments? Compile(TransformConfig settings, IMessageMap map, IStepCompiler compiler) =>
        Compile(Given(settings), Check(settings, map, compiler.Errors), compiler);

    /// <summary>Compiles the parameters of a script, which accepts any; null after an error.</summary>
    public static TransformArguments? Compile(IReadOnlyDictionary<string, ValueConfig> parameters, IStepCompiler compiler) =>
        Compile(parameters.Select(parameter => (parameter.Key, parameter.Value, false)), isWhole: true, compiler);

    private static TransformArguments? Compile(
        IEnumerable<(string Name, ValueConfig Value, bool IsDocument)> given,
        bool isWhole,
        IStepCompiler compiler
    )
    {
        var arguments = new TransformArguments();
        foreach (var (name, config, isDocument) in given)
        {
            if (compiler.Expressions.Compile(config, compiler.Errors) is { } value)
                arguments._arguments.Add((name, value, isDocument));
            else
                isWhole = false;
        }

        return isWhole ? arguments : null;
    }

    /// <summary>The argument values for a message; arguments without a value are omitted.</summary>
    public MapArgument[] Evaluate(MessageContext context)
    {
        if (_arguments.Count == 0)
            return [];
        var values = new List<MapArgument>(_arguments.Count);
        foreach (var (name, value, isDocument) in _arguments)
        {
            if (value.Evaluate(context) is { } found)
                values.Add(new MapArgument(name, isDocument ? AsDocument(found) : found));
        }

        return [.. values];
    }

    private static IEnumerable<(string Name, ValueConfig Value, bool IsDocument)> Given(TransformConfig settings) =>
        settings
            .Parameters.Select(parameter => (parameter.Key, parameter.Value, false))
            .Concat(settings.Inputs.Select(input => (input.Key, input.Value, true)));

    private static bool Check(TransformConfig settings, IMessageMap map, ConfigErrors errors)
    {
        if (!settings.IsSound("parameters", "inputs"))
            return false;
        if (map.TakesAnyArgument)
            return true;
        var given = Given(settings).Select(argument => argument.Name).ToList();
        var names = map.Parameters.Select(parameter => parameter.Name).ToList();
        var problems = given
            .Except(names)
            .Select(name => $"the map {map.Name} has no parameter '{name}'{NearestName.Hint(name, names)}")
            .Concat(settings.Inputs.Keys.Intersect(settings.Parameters.Keys).Select(name => $"'{name}' is a parameter and an input"))
            .Concat(
                map.Parameters.Where(parameter => parameter.IsRequired && !given.Contains(parameter.Name))
                    .Select(parameter => $"the map {map.Name} needs the parameter '{parameter.Name}'")
            )
            .ToList();
        foreach (var problem in problems)
            errors.Add(Code, settings, "map", problem);
        return problems.Count == 0;
    }

    // The text is already decoded, so the encoding in its XML declaration no longer applies.
    private static MessageBody AsDocument(object value)
    {
        var text = MessageValues.AsText(value)!;
        var end = text.StartsWith("<?xml ", StringComparison.Ordinal) ? text.IndexOf("?>", StringComparison.Ordinal) : -1;
        return MessageBody.FromText(end < 0 ? text : text[(end + 2)..]);
    }
}
