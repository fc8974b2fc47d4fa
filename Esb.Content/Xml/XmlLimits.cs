using Esb.Configuration;

namespace Esb.Content.Xml;

/// <summary>What keeps one XML document from taking the host down; by default as where nothing is configured.</summary>
public sealed record XmlLimits
{
    private static readonly LimitsConfig Usual = new();

    /// <summary>Elements inside one another, the root counted.</summary>
    public int Depth { get; init; } = Usual.Xml.Depth;

    /// <summary>Characters of the whole document.</summary>
    public long Characters { get; init; } = Usual.MaxBodySize.Bytes;

    /// <summary>Attributes of one element.</summary>
    public int Attributes { get; init; } = Usual.Xml.Attributes;

    /// <summary>Characters of one attribute's value.</summary>
    public int AttributeCharacters { get; init; } = Usual.Xml.AttributeCharacters;

    /// <summary>Namespace declarations in scope at one element.</summary>
    public int Namespaces { get; init; } = Usual.Xml.Namespaces;

    /// <summary>How long an expression may take that needs the tree.</summary>
    public TimeSpan ExpressionTime { get; init; } = Usual.Xml.ExpressionTime;

    /// <summary>The limits of a configuration: a document that may come in may be read, since a character takes at least a byte.</summary>
    public static XmlLimits From(LimitsConfig limits) =>
        new()
        {
            Depth = limits.Xml.Depth,
            Characters = limits.MaxBodySize.Bytes,
            Attributes = limits.Xml.Attributes,
            AttributeCharacters = limits.Xml.AttributeCharacters,
            Namespaces = limits.Xml.Namespaces,
            ExpressionTime = limits.Xml.ExpressionTime,
        };
}
