using System.Text.RegularExpressions;
using Esb.Core.Configuration;
using Esb.Core.Expressions;

namespace Esb.Content.Expressions;

/// <summary>Compiles what a condition says of its value.</summary>
internal static class ComparisonCompiler
{
    /// <summary>Whether a condition says anything of its value, or only names it.</summary>
    public static bool Compares(ConditionConfig condition) =>
        condition
            is not {
                EqualTo: null,
                NotEqualTo: null,
                In: null,
                GreaterThan: null,
                AtLeast: null,
                LessThan: null,
                AtMost: null,
                Matches: null,
                StartsWith: null,
                Exists: null,
            };

    /// <summary>The test of a value; null after an error.</summary>
    public static Func<object?, bool>? Compile(ConditionConfig condition, ConfigErrors errors) =>
        condition switch
        {
            { EqualTo: { } node } => With(node, errors, constant => value => ValueOrder.AreEqual(value, constant)),
            { NotEqualTo: { } node } => With(node, errors, constant => value => !ValueOrder.AreEqual(value, constant)),
            { In: { } nodes } => AnyOf(nodes, errors),
            { GreaterThan: { } node } => With(node, errors, constant => value => ValueOrder.Compare(value, constant) > 0),
            { AtLeast: { } node } => With(node, errors, constant => value => ValueOrder.Compare(value, constant) >= 0),
            { LessThan: { } node } => With(node, errors, constant => value => ValueOrder.Compare(value, constant) < 0),
            { AtMost: { } node } => With(node, errors, constant => value => ValueOrder.Compare(value, constant) <= 0),
            { Matches: { } pattern } => Matching(pattern, condition, errors),
            { StartsWith: { } beginning } => value => MessageValues.AsText(value)?.StartsWith(beginning, StringComparison.Ordinal) == true,
            { Exists: { } exists } => value => (value is not null) == exists,
            _ => value => value is not (null or false or "false"), // a header cannot say false otherwise
        };

    private static Func<object?, bool>? With(ConfigNode node, ConfigErrors errors, Func<object, Func<object?, bool>> compare) =>
        Constant(node, errors) is { } constant ? compare(constant) : null;

    private static Func<object?, bool>? AnyOf(IReadOnlyList<ConfigNode> nodes, ConfigErrors errors)
    {
        var constants = nodes.Select(node => Constant(node, errors)).OfType<object>().ToList();
        return constants.Count == nodes.Count ? value => constants.Exists(constant => ValueOrder.AreEqual(value, constant)) : null;
    }

    private static object? Constant(ConfigNode node, ConfigErrors errors)
    {
        if (node.Kind is ConfigKind.Text or ConfigKind.Number or ConfigKind.Boolean)
            return NumberText.FromConstant(node);
        errors.Add("ESB-CFG-TYPE", node, "expected text, a number or a boolean to compare with");
        return null;
    }

    private static Func<object?, bool>? Matching(string pattern, ConditionConfig condition, ConfigErrors errors)
    {
        try
        {
            var regex = new Regex(pattern, RegexOptions.NonBacktracking | RegexOptions.CultureInvariant, Regex.InfiniteMatchTimeout);
            return value => MessageValues.AsText(value) is { } text && regex.IsMatch(text);
        }
        catch (Exception ex) when (ex is ArgumentException or NotSupportedException)
        {
            errors.Add(
                new ConfigError(
                    "ESB-EXPR-REGEX",
                    $"{condition.Path}.matches",
                    $"\"{pattern}\"",
                    $"expected a regular expression without look-around and back-references: {ex.Message.TrimEnd('.')}",
                    condition.Origin
                )
            );
            return null;
        }
    }
}
