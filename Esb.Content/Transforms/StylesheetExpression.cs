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

    /// <summary>Whether it looks through more of the document than the children of a node, and so may take long.</summary>
    public bool Sweeps => Wide().IsMatch(_code);

    /// <summary>Whether it calls a function without a prefix.</summary>
    public bool Calls(string function) => Plain().Matches(_code).Any(match => match.Groups["name"].Value == function);

    [GeneratedRegex(@"(?<![\w.:-])(?<name>[\w-]+)\s*\(")]
    private static partial Regex Plain();

    [GeneratedRegex(@"(?<![\w.:-])(?<prefix>[\w][\w.-]*):(?<name>[\w][\w.-]*)\s*\(")]
    private static partial Regex Prefixed();

    [GeneratedRegex(@"//|\b(descendant|descendant-or-self|ancestor|ancestor-or-self|following|following-sibling|preceding|preceding-sibling)\s*::")]
    private static partial Regex Wide();

    [GeneratedRegex("""'[^']*'|"[^"]*" """, RegexOptions.IgnorePatternWhitespace)]
    private static partial Regex Literals();
}
