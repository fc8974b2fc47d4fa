using System.Text.RegularExpressions;
using System.Xml.Linq;

namespace Esb.Content.Transforms;

/// <summary>An XPath expression, or a pattern, as it stands in a stylesheet.</summary>
/// <param name="attribute">Where it stands.</param>
/// <param name="text">The expression.</param>
internal sealed partial class StylesheetExpression(XAttribute attribute, string text)
{
    // What stands between quotes is data.
    private readonly string _code = Literals().Replace(text, "''");

    public XAttribute Attribute => attribute;

    /// <summary>The functions that it calls by names with a prefix.</summary>
    public IEnumerable<(string Prefix, string Name)> PrefixedFunctions =>
        Prefixed().Matches(_code).Select(match => (match.Groups["prefix"].Value, match.Groups["name"].Value));

    /// <summary>Whether it looks through more of the document than what is below a node, and so may take long.</summary>
    public bool Sweeps => Wide().IsMatch(_code) || (Attribute.Name.LocalName != "match" && GoesBack);

    // Once, that costs what the document costs; for each of many nodes it is a join.
    private bool GoesBack => (IsRepeated ? 0 : _code.IndexOf('[')) is >= 0 and var start && Back().IsMatch(_code, start);

    private bool IsRepeated =>
        Attribute.Parent is { } place
        && (
            place.Name == StylesheetFiles.Xsl + "sort"
            || place.Ancestors(StylesheetFiles.Xsl + "for-each").Any()
            || place
                .AncestorsAndSelf(StylesheetFiles.Xsl + "template")
                .Any(template => template.Attribute("match")?.Value is not { } pattern || !OfOneNode().IsMatch(pattern))
        );

    /// <summary>Whether it calls a function without a prefix.</summary>
    public bool Calls(string function) => Plain().Matches(_code).Any(match => match.Groups["name"].Value == function);

    [GeneratedRegex(@"(?<![\w.:-])(?<name>[\w-]+)\s*\(")]
    private static partial Regex Plain();

    [GeneratedRegex(@"(?<![\w.:-])(?<prefix>[\w][\w.-]*):(?<name>[\w][\w.-]*)\s*\(")]
    private static partial Regex Prefixed();

    [GeneratedRegex(
        @"//|\b(descendant|descendant-or-self|ancestor|ancestor-or-self|following|following-sibling|preceding|preceding-sibling)\s*::"
    )]
    private static partial Regex Wide();

    // Paths from the root, from a variable, and from the parent to more than its attributes.
    [GeneratedRegex(@"(?<![\w.\])*])/(?=\s*[\w@*])|\$[\w:.-]+\s*(\[|/\s*[\w.*])|\.\.\s*/\s*[\w*]|\bparent\s*::")]
    private static partial Regex Back();

    // The root, or the one element below it.
    [GeneratedRegex(@"^\s*/\s*([\w:.-]+|\*)?\s*$")]
    private static partial Regex OfOneNode();

    [GeneratedRegex("""'[^']*'|"[^"]*" """, RegexOptions.IgnorePatternWhitespace)]
    private static partial Regex Literals();
}
