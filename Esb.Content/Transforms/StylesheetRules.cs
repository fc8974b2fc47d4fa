using System.Text.RegularExpressions;
using System.Xml.Linq;

namespace Esb.Content.Transforms;

/// <summary>Refuses when a configuration is checked what the engine would refuse only when a message comes.</summary>
internal static partial class StylesheetRules
{
    private static readonly XNamespace Microsoft = "urn:schemas-microsoft-com:xslt";

    /// <exception cref="StylesheetException">A rule is broken.</exception>
    public static void Check(XDocument document)
    {
        CheckVersion(document.Root!);
        foreach (var element in document.Root!.DescendantsAndSelf())
        {
            if (element.Name == Microsoft + "script") throw StylesheetFiles.Problem("ESB-XSL-SCRIPT", element, "scripts are not supported");
            foreach (var attribute in element.Attributes().Where(attribute => ReadsDocument(element, attribute)))
                throw StylesheetFiles.Problem("ESB-XSL-DOCUMENT", attribute, "the function document() is not supported: a map sees its message only");
        }
    }

    private static void CheckVersion(XElement root)
    {
        var version = root.Name.Namespace == StylesheetFiles.Xsl ? root.Attribute("version") : root.Attribute(StylesheetFiles.Xsl + "version");
        if (version is not null && version.Value.Trim() != "1.0")
            throw StylesheetFiles.Problem("ESB-XSL-VERSION", version, $"the engine is XSLT 1.0, the stylesheet wants {version.Value}");
    }

    private static bool ReadsDocument(XElement element, XAttribute attribute) =>
        element.Name.Namespace == StylesheetFiles.Xsl
            ? CallsDocument(attribute.Value)
            : Places().Matches(attribute.Value).Any(place => CallsDocument(place.Value));

    private static bool CallsDocument(string expression) => Document().IsMatch(Literals().Replace(expression, "''"));

    [GeneratedRegex(@"(?<![\w.:-])document\s*\(")]
    private static partial Regex Document();

    [GeneratedRegex("""'[^']*'|"[^"]*" """, RegexOptions.IgnorePatternWhitespace)]
    private static partial Regex Literals();

    [GeneratedRegex(@"\{[^}]*\}")]
    private static partial Regex Places();
}
