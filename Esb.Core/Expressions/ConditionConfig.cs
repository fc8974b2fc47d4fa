using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;

namespace Esb.Core.Expressions;

/// <summary>A condition: a value with at most one comparison, or conditions joined by all, any or not.</summary>
/// <remarks>On its own, an XPath value holds by the rules of XPath; other values hold if they exist and are not false. Numbers compare as
/// numbers if both sides are.</remarks>
[ExactlyOne("xpath", "jsonpath", "header", "property", "message", "value", "template", "variable", "lookup", "state", "all", "any", "not")]
[AtMostOne(
    "equals",
    "notEquals",
    "in",
    "greaterThan",
    "atLeast",
    "lessThan",
    "atMost",
    "matches",
    "startsWith",
    "exists",
    "all",
    "any",
    "not"
)]
public sealed record ConditionConfig : SettingsRecord, IValueSource
{
    /// <inheritdoc/>
    [Setting("An XPath 1.0 expression over the body, with the prefixes of the section namespaces.")]
    public string? Xpath { get; init; }

    /// <inheritdoc/>
    [Setting("A JSONPath over the body.")]
    public string? Jsonpath { get; init; }

    /// <inheritdoc/>
    [Setting("A header of the message.")]
    public string? Header { get; init; }

    /// <inheritdoc/>
    [Setting("A property that an earlier step set.")]
    public string? Property { get; init; }

    /// <inheritdoc/>
    [Setting("A part of the envelope.")]
    public MessagePart? Message { get; init; }

    /// <inheritdoc/>
    [Setting("A constant.", Main = true)]
    public ConfigNode? Value { get; init; }

    /// <inheritdoc/>
    [Setting("A text with places for values.")]
    public string? Template { get; init; }

    /// <inheritdoc/>
    [Setting("A variable of the workflow.")]
    public string? Variable { get; init; }

    /// <inheritdoc/>
    [Setting("The variable of the workflow that holds the message to read; by default the current message.")]
    public string? Of { get; init; }

    /// <inheritdoc/>
    [Setting("A look-up: the value is a column of the entry that it has under the key.", Reference = "lookups")]
    public string? Lookup { get; init; }

    /// <inheritdoc/>
    [Setting("Beside lookup: what the entry is found by, as text.")]
    public ValueConfig? Key { get; init; }

    /// <inheritdoc/>
    [Setting("Beside lookup: the column; by default the only one beside the key's.")]
    public string? Column { get; init; }

    /// <inheritdoc/>
    [Setting("Beside lookup: the constant where there is no such entry, or its column is empty; by default there is no value.")]
    public ConfigNode? Otherwise { get; init; }

    /// <inheritdoc/>
    [Setting("State: what an earlier process of the endpoint kept under this name by set.")]
    public string? State { get; init; }

    /// <inheritdoc/>
    [Setting("Whether a message without this value is refused, instead of the condition not holding.")]
    public bool? Required { get; init; }

    /// <inheritdoc/>
    [Setting(
        "Whether a message in which the XPath or JSONPath selects more than one node is refused, instead of the first being looked at."
    )]
    public bool? Single { get; init; }

    /// <summary>Equality.</summary>
    [Setting("Holds when the value equals this constant.", Name = "equals")]
    public ConfigNode? EqualTo { get; init; }

    /// <summary>Inequality; also holds if there is no value.</summary>
    [Setting("Holds when the value differs from this constant.", Name = "notEquals")]
    public ConfigNode? NotEqualTo { get; init; }

    /// <summary>Membership.</summary>
    [Setting("Holds when the value equals one of these constants.")]
    public IReadOnlyList<ConfigNode>? In { get; init; }

    /// <summary>Order.</summary>
    [Setting("Holds when the value is greater.")]
    public ConfigNode? GreaterThan { get; init; }

    /// <summary>Order.</summary>
    [Setting("Holds when the value is as great or greater.")]
    public ConfigNode? AtLeast { get; init; }

    /// <summary>Order.</summary>
    [Setting("Holds when the value is less.")]
    public ConfigNode? LessThan { get; init; }

    /// <summary>Order.</summary>
    [Setting("Holds when the value is as little or less.")]
    public ConfigNode? AtMost { get; init; }

    /// <summary>A regular expression, matched without backtracking.</summary>
    [Setting("Holds when the value matches this regular expression (no look-around, no back-references).")]
    public string? Matches { get; init; }

    /// <summary>A beginning.</summary>
    [Setting("Holds when the value begins with this text.")]
    public string? StartsWith { get; init; }

    /// <summary>Existence.</summary>
    [Setting("Holds when the value exists (true) or does not (false).")]
    public bool? Exists { get; init; }

    /// <summary>Conjunction.</summary>
    [Setting("Holds when all of these hold.")]
    public IReadOnlyList<ConditionConfig>? All { get; init; }

    /// <summary>Disjunction.</summary>
    [Setting("Holds when at least one of these holds.")]
    public IReadOnlyList<ConditionConfig>? Any { get; init; }

    /// <summary>Negation.</summary>
    [Setting("Holds when this does not.")]
    public ConditionConfig? Not { get; init; }

    /// <summary>Values that it reads, including those of the conditions that it joins.</summary>
    public IEnumerable<IValueSource> Values =>
        this switch
        {
            { All: { } all } => all.SelectMany(condition => condition.Values),
            { Any: { } any } => any.SelectMany(condition => condition.Values),
            { Not: { } not } => not.Values,
            _ => [this],
        };
}
