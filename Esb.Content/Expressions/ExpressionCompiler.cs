using Esb.Configuration;
using Esb.Content.Json.Paths;
using Esb.Content.Json.Scanning;
using Esb.Content.Lookups;
using Esb.Content.Xml;
using Esb.Content.Xml.Scanning;
using Esb.Core.Configuration;
using Esb.Core.Expressions;

namespace Esb.Content.Expressions;

/// <inheritdoc/>
/// <param name="namespaces">What prefixes stand for.</param>
/// <param name="xml">Reads the bodies.</param>
/// <param name="time">Ends evaluations that take too long.</param>
/// <param name="checksWhole">Whether bodies are read to their end, also where their beginning decides; null for JSON of messages
/// only.</param>
/// <param name="lookups">The look-ups; null where values have none.</param>
/// <param name="sequences">Receives the places that need the number of the message; null to leave them unchecked.</param>
internal sealed class ExpressionCompiler(
    IReadOnlyDictionary<string, string> namespaces,
    XmlInput xml,
    TimeProvider time,
    bool? checksWhole = false,
    LookupModels? lookups = null,
    SequenceUses? sequences = null
) : IExpressionCompiler, IDisposable
{
    private readonly XPathCompiler _xpaths = new(namespaces);
    private readonly PathSet _paths = new(xml, checksWhole == true);
    private readonly JsonPathSet _jsonPaths = new(
        checksWhole == true,
        () => new JsonTime(time, xml.Limits.ExpressionTime),
        checksMessages: checksWhole is null
    );
    private bool _isComplete;

    public IMessageValue? Compile(IValueSource value, ConfigErrors errors) => Compile(value, wantsText: true, errors);

    public IMessageCondition? Compile(ConditionConfig condition, ConfigErrors errors)
    {
        RequireTime(condition.Path);
        return condition switch
        {
            { All: null, Any: null, Not: null } => CompileOne(condition, errors),
            _ when !ValueDemands.AreNone(condition, errors) => null,
            { All: { } all } => CompileEach(all, errors) is { } conditions ? new AllCondition(conditions) : null,
            { Any: { } any } => CompileEach(any, errors) is { } conditions ? new AnyCondition(conditions) : null,
            _ => Compile(condition.Not!, errors) is { } inner ? new NotCondition(inner) : null,
        };
    }

    public IMessageValue? CompileTemplate(string template, string path, ConfigOrigin origin, ConfigErrors errors)
    {
        RequireTime(path);
        var (value, expected) = TemplateParser.Parse(template, time);
        if (expected is null && value is TemplateValue { ReadsSequence: true } && !IsNumbered(path))
            expected = "expected {sequence} in endpoints that send and in processes, whose messages have a number";
        if (expected is null)
            return value;
        errors.Add(new ConfigError("ESB-EXPR-TEMPLATE", path, $"\"{template}\"", expected, origin));
        return null;
    }

    /// <summary>Ends the compile phase: expressions share one pass over a document, to which nothing can be added while messages
    /// run.</summary>
    public void Dispose() => _isComplete = true;

    private bool IsNumbered(string path)
    {
        if (sequences is null)
            return true;
        sequences.Add(path);
        return path.StartsWith("endpoints.", StringComparison.Ordinal) || path.StartsWith("processes.", StringComparison.Ordinal);
    }

    private void RequireTime(string path)
    {
        if (_isComplete)
            throw new InvalidOperationException($"{path} was compiled after its configuration was checked.");
    }

    private IMessageValue? Compile(IValueSource value, bool wantsText, ConfigErrors errors)
    {
        RequireTime(value.Path);
        if (CompileSource(value, wantsText, errors) is not { } compiled || !ValueDemands.AreSound(value, errors))
            return null;
        var single = value.Single == true && CountOf(value, errors) is { } count ? ValueDemands.Single(compiled, count, value) : compiled;
        var read = value.Of is { } variable ? new VariableMessageValue(single, variable) : single;
        return value.Required == true ? ValueDemands.Required(read, value) : read;
    }

    private IMessageValue? CompileSource(IValueSource value, bool wantsText, ConfigErrors errors) =>
        value switch
        {
            { Xpath: { } xpath } => CompileXPath(xpath, value, errors),
            { Jsonpath: { } jsonpath } => CompileJsonPath(jsonpath, value, wantsText, errors),
            { Header: { } header } => new HeaderValue(header),
            { Property: { } property } => new PropertyValue(property),
            { Message: { } part } => new MessagePartValue(part),
            { Value: { } constant } => new ConstantValue(NumberText.FromConstant(constant)),
            { Variable: { } variable } => new VariableValue(variable),
            { Template: { } template } => CompileTemplate(template, $"{value.Path}.template", value.Origin, errors),
            { State: { } state } => new StateValue(state),
            { Attachment: { } name } => new AttachmentValue(name),
            { Lookup: not null } => LookupValue.Compile(value, value.Key is { } key ? Compile(key, errors) : null, lookups, errors),
            _ => null, // its record refused it
        };

    // How many nodes a sound expression selects; null where it can be one at most.
    private IMessageValue? CountOf(IValueSource value, ConfigErrors errors) =>
        value switch
        {
            { Xpath: { } xpath } => CompileXPath($"count({xpath})", value, errors),
            { Jsonpath: { } jsonpath } when JsonPath.Parse(jsonpath) is { IsSingular: false } path => new JsonPathCount(
                path,
                _jsonPaths.NewTime
            ),
            _ => null,
        };

    // The framework's compiler judges the expression; a forward pass evaluates it where it can, the tree where it must.
    private IMessageValue? CompileXPath(string xpath, IValueSource value, ConfigErrors errors)
    {
        if (_xpaths.Compile(xpath, value, errors) is not { } expression)
            return null;
        return new ScanCompiler(_paths, namespaces).CompileValue(xpath) is { } evaluate
            ? new ScannedValue(evaluate, _paths)
            : new XPathValue(new XPathTree(expression, xml, time));
    }

    private IMessageCondition? CompileXPathCondition(string xpath, ConditionConfig condition, ConfigErrors errors)
    {
        if (_xpaths.Compile(xpath, condition, errors) is not { } expression)
            return null;
        return new ScanCompiler(_paths, namespaces).CompileTruth(xpath) is { } holds
            ? new ScannedCondition(holds, _paths)
            : new XPathCondition(new XPathTree(expression, xml, time));
    }

    private IMessageCondition? CompileOne(ConditionConfig condition, ConfigErrors errors)
    {
        var compares = ComparisonCompiler.Compares(condition);
        if (condition is { Xpath: { } xpath, Required: not true, Single: not true, Of: null } && !compares)
            return CompileXPathCondition(xpath, condition, errors);

        // Whether an object or array is there, its first byte tells; any comparison wants to read it.
        var value = Compile(condition, wantsText: compares && condition.Exists is null, errors);
        var holds =
            condition.Xpath is not null && !compares
                ? found => found is not null // nodes stand for true, whatever their text
                : ComparisonCompiler.Compile(condition, errors);
        return value is null || holds is null ? null : new ComparisonCondition(value, holds);
    }

    private List<IMessageCondition>? CompileEach(IReadOnlyList<ConditionConfig> conditions, ConfigErrors errors)
    {
        var compiled = conditions.Select(condition => Compile(condition, errors)).OfType<IMessageCondition>().ToList();
        return compiled.Count == conditions.Count ? compiled : null;
    }

    private IMessageValue? CompileJsonPath(string jsonpath, IValueSource source, bool wantsText, ConfigErrors errors)
    {
        try
        {
            var path = JsonPath.Parse(jsonpath);
            return JsonScanCompiler.Compile(path, wantsText, _jsonPaths) is { } question
                ? new ScannedJsonValue(question, _jsonPaths)
                : new JsonPathValue(path, _jsonPaths.NewTime);
        }
        catch (JsonPathException ex)
        {
            errors.Add(new ConfigError("ESB-JPT-SYNTAX", $"{source.Path}.jsonpath", $"\"{jsonpath}\"", ex.Message, source.Origin));
            return null;
        }
    }
}
