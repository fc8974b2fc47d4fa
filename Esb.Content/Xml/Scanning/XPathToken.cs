namespace Esb.Content.Xml.Scanning;

/// <summary>The smallest part of an XPath (XPath 1.0, section 3.7).</summary>
/// <param name="Kind">What it is.</param>
/// <param name="Text">A symbol or a name as it is written; a literal without its quotes.</param>
internal readonly record struct XPathToken(XPathTokenKind Kind, string Text)
{
    public bool Is(string symbol) => Kind == XPathTokenKind.Symbol && Text == symbol;

    public bool IsName(string name) => Kind == XPathTokenKind.Name && Text == name;
}

internal enum XPathTokenKind
{
    End,
    Symbol,
    Name,
    Literal,
    Number,
}
