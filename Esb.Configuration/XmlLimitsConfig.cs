using Esb.Core.Configuration.Settings;

namespace Esb.Configuration;

/// <summary>Limits for one XML document from an external system; its length is limited by <see cref="LimitsConfig.MaxBodySize"/>.</summary>
public sealed record XmlLimitsConfig : SettingsRecord
{
    /// <summary>The maximum nesting depth of elements, the root included.</summary>
    [Setting("Elements inside one another, the root counted; deeper ones are refused (ESB-XML-DEPTH).", Range = "1..1000")]
    public int Depth { get; init; } = 128;

    /// <summary>The maximum number of attributes of one element.</summary>
    [Setting("Attributes of one element; more are refused (ESB-XML-LIMIT).", Range = "1..1000000")]
    public int Attributes { get; init; } = 10_000;

    /// <summary>The maximum length of an attribute value, in characters.</summary>
    [Setting("Characters of an attribute's value; longer ones are refused (ESB-XML-LIMIT).", Range = "1..1000000000")]
    public int AttributeCharacters { get; init; } = 1 << 20;

    /// <summary>The maximum number of namespace declarations in scope at one element.</summary>
    [Setting(
        "Namespace declarations in scope at an element, its ancestors' counted; more are refused (ESB-XML-LIMIT).",
        Range = "1..10000"
    )]
    public int Namespaces { get; init; } = 256;

    /// <summary>The maximum time for an expression that needs the whole document, XML or JSON.</summary>
    [Setting(
        "How long an XPath or JSONPath may take that cannot be decided while the document is read (ESB-XPT-TIMEOUT, ESB-JPT-TIMEOUT).",
        Range = "10ms..60s"
    )]
    public TimeSpan ExpressionTime { get; init; } = TimeSpan.FromSeconds(2);
}
