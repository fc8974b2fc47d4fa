using Esb.Configuration;
using Esb.Core.Configuration;
using Esb.Core.Errors;
using Esb.Core.Expressions;
using Esb.Core.Processes;

namespace Esb.Endpoints.Sql;

/// <summary>A checked command and the compiled values of its parameters. Immutable and thread-safe.</summary>
internal sealed class SqlCommandPlan
{
    private readonly SqlOutboundConfig _config;
    private readonly IMessageValue?[] _values;
    private readonly long _maxValueCharacters;

    private SqlCommandPlan(
        SqlOutboundConfig config,
        SqlText text,
        SqlProcedure? procedure,
        IMessageValue?[] values,
        long maxValueCharacters
    )
    {
        _config = config;
        _values = values;
        _maxValueCharacters = maxValueCharacters;
        Text = text;
        Procedure = procedure;
        Names = procedure is null ? text.Parameters : [.. procedure.Parameters.Select(parameter => parameter.Name)];
        Types = [.. Names.Select(name => config.Parameters[name].Type)];
        ReadsBody = values.Any(value => value is { ReadsBody: true });
    }

    /// <summary>The command; empty for a procedure.</summary>
    public SqlText Text { get; }

    /// <summary>The procedure to call; null for a command.</summary>
    public SqlProcedure? Procedure { get; }

    /// <summary>The names of the parameters, in order.</summary>
    public IReadOnlyList<string> Names { get; }

    /// <summary>The types of the parameters, in the same order; null for those that the database infers.</summary>
    public IReadOnlyList<string?> Types { get; }

    /// <summary>True if the values require the buffered body of the message.</summary>
    public bool ReadsBody { get; }

    /// <summary>Checks and compiles the command; null after an error.</summary>
    public static SqlCommandPlan? Compile(
        SqlOutboundConfig config,
        IExpressionCompiler compiler,
        long maxValueCharacters,
        ConfigErrors errors
    )
    {
        var known = errors.All.Count;
        // both only by mistake
        var commands = new[] { ("query", config.Query), ("execute", config.Execute) }.Where(command => command.Item2 is not null);
        var texts = commands.Select(command => (Property: command.Item1, Text: SqlText.Parse(command.Item2!))).ToList();
        foreach (var (property, text) in texts)
            CheckText(config, property, text, errors);
        foreach (var (name, parameter) in config.Parameters)
            SqlParameterCheck.Check(config, name, parameter, errors);
        SqlParameterCheck.CheckIsolation(config, errors);
        var values = config.Parameters.ToDictionary(
            parameter => parameter.Key,
            parameter => parameter.Value.HasValue ? compiler.Compile(parameter.Value.Source, errors) : null
        );
        if (config.Procedure is { } called && texts.Count == 0)
            return CompileProcedure(config, called, values, maxValueCharacters, known, errors);
        if (
            config.Procedure is not null
            || texts is not [(var given, var command)]
            || !config.IsSound(given, "parameters")
            || config.Parameters.Values.Any(parameter => !parameter.HasValue)
        )
            return null; // reported already

        CheckNames(config, given, command, errors);
        return errors.All.Count > known || values.ContainsValue(null)
            ? null
            : new SqlCommandPlan(
                config,
                command,
                procedure: null,
                [.. command.Parameters.Select(parameter => values[parameter]!)],
                maxValueCharacters
            );
    }

    /// <summary>Returns the values for a message as text, in the order of <see cref="Names"/>; null for null.</summary>
    /// <exception cref="EndpointException"><c>ESB-SQL-PARAM</c>: a value is missing. <c>ESB-SQL-VALUE</c>: a value cannot be
    /// stored.</exception>
    public string?[] Evaluate(MessageContext context)
    {
        var values = new string?[_values.Length];
        for (var i = 0; i < values.Length; i++)
            values[i] = _values[i] is { } value ? Checked(Names[i], value.Evaluate(context)) : null;
        return values;
    }

    private static SqlCommandPlan? CompileProcedure(
        SqlOutboundConfig config,
        string called,
        Dictionary<string, IMessageValue?> values,
        long maxValueCharacters,
        int known,
        ConfigErrors errors
    )
    {
        if (config.IsSound("procedure") && !SqlProcedure.IsName(called))
            errors.Add(
                called.Contains("${", StringComparison.Ordinal) || called.Contains('{') ? "ESB-SQL-DYNAMIC" : "ESB-CFG-VALUE",
                config,
                "procedure",
                "expected the name of a procedure, such as shop.close_order"
            );
        foreach (var name in config.Optional.Except(config.Parameters.Keys))
            errors.Add("ESB-SQL-PARAM", config, "optional", $"parameters has no {name}{NearestName.Hint(name, config.Parameters.Keys)}");
        if (errors.All.Count > known || !config.IsSound("procedure", "parameters"))
            return null;
        var procedure = new SqlProcedure(
            called,
            [
                .. config.Parameters.Select(parameter => new SqlProcedureParameter(
                    parameter.Key,
                    parameter.Value.Type,
                    parameter.Value.Direction
                )),
            ]
        );
        return new SqlCommandPlan(
            config,
            SqlText.Parse(""),
            procedure,
            [.. config.Parameters.Keys.Select(name => values[name])],
            maxValueCharacters
        );
    }

    private string? Checked(string name, object? value)
    {
        // In UTC, because a column without a time zone would drop the offset.
        var text = MessageValues.AsText(value is DateTimeOffset time ? time.ToUniversalTime() : value);
        if (text is null)
            return _config.Optional.Contains(name)
                ? null
                : throw Refused(
                    "ESB-SQL-PARAM",
                    $"The message has no value for the parameter @{name} of the endpoint '{_config.Name}'.",
                    FaultKind.Invalid
                );
        if (text.Contains('\0'))
            throw Refused(
                "ESB-SQL-VALUE",
                $"The value of the parameter @{name} has a NUL character, which text in a database cannot contain.",
                FaultKind.Invalid
            );
        if (text.Length > _maxValueCharacters)
            throw Refused(
                "ESB-SQL-VALUE",
                $"The value of the parameter @{name} is longer than {_maxValueCharacters} characters.",
                FaultKind.TooLarge
            );
        return text;
    }

    private static void CheckText(SqlOutboundConfig config, string property, SqlText text, ConfigErrors errors)
    {
        if (text.DynamicPart is { } part)
            errors.Add(
                "ESB-SQL-DYNAMIC",
                config,
                property,
                $"{part} would put a message's content into the command; expected @name, and its value in parameters"
            );
        foreach (var name in text.Identifiers)
            errors.Add(
                "ESB-SQL-IDENT",
                config,
                property,
                $"@{name} stands for a table, which a value of a message never names; expected its name"
            );
        if (text.TransactionPart is not { } control)
            return;
        if (config.Once)
            errors.Add(
                "ESB-CFG-ONCE",
                config,
                property,
                $"'{control}' would part the effect from its record; the statements are one transaction anyway"
            );
        if (config.Batch is not null)
            errors.Add(
                "ESB-CFG-BATCH",
                config,
                property,
                $"'{control}' would end the transaction of its neighbours; the statements are one transaction anyway"
            );
        if (config.SingleInstance)
            errors.Add(
                "ESB-CFG-SINGLE",
                config,
                property,
                $"'{control}' would part the effect from its fence; the statements are one transaction anyway"
            );
    }

    private static void CheckNames(SqlOutboundConfig config, string property, SqlText text, ConfigErrors errors)
    {
        foreach (var name in text.Parameters.Where(name => !config.Parameters.ContainsKey(name)))
            errors.Add(
                "ESB-SQL-PARAM",
                config,
                property,
                $"@{name} has no value: expected one in parameters{NearestName.Hint(name, config.Parameters.Keys)}"
            );
        foreach (var name in config.Parameters.Keys.Except(text.Parameters))
            errors.Add(
                "ESB-SQL-PARAM",
                $"{config.Path}.parameters.{name}",
                text.IsPartOfOperator(name)
                    ? $"the @ of @{name} is read as part of the operator before it; put a blank before @{name}"
                    : $"the command has no @{name}{NearestName.Hint(name, text.Parameters)}",
                config.Origin
            );
        foreach (var name in config.Optional.Except(config.Parameters.Keys))
            errors.Add("ESB-SQL-PARAM", config, "optional", $"parameters has no {name}{NearestName.Hint(name, config.Parameters.Keys)}");
    }

    private EndpointException Refused(string code, string sentence, FaultKind kind) =>
        new(_config.Name, code, sentence, isTransient: false, kind: kind) { IsUnsent = true };
}
