using System.Xml.Linq;

namespace Esb.Content.Transforms;

/// <summary>Refuses when a configuration is checked what the engine would refuse only when a message comes.</summary>
internal static class StylesheetRules
{
    private static readonly XNamespace Microsoft = "urn:schemas-microsoft-com:xslt";

    // Instructions and functions of later versions that people miss most.
    private static readonly string[] LaterElements =
    [
        "analyze-string",
        "character-map",
        "for-each-group",
        "function",
        "import-schema",
        "iterate",
        "merge",
        "mode",
        "namespace",
        "next-match",
        "perform-sort",
        "result-document",
        "sequence",
        "source-document",
        "stream",
        "try",
    ];

    private static readonly string[] LaterFunctions =
    [
        "current-dateTime",
        "current-date",
        "current-group",
        "current-grouping-key",
        "distinct-values",
        "ends-with",
        "exists",
        "format-date",
        "format-dateTime",
        "json-to-xml",
        "lower-case",
        "matches",
        "parse-json",
        "replace",
        "string-join",
        "tokenize",
        "unparsed-text",
        "upper-case",
    ];

    // What the engine has functions of itself.
    private static readonly string[] KnownNamespaces = [Microsoft.NamespaceName, "http://exslt.org/common"];

    /// <exception cref="MapFileException">A rule is broken.</exception>
    public static void Check(XDocument document)
    {
        CheckVersion(document.Root!);
        foreach (var element in document.Root!.DescendantsAndSelf())
        {
            if (element.Name == Microsoft + "script")
                throw StylesheetFiles.Problem("ESB-XSL-SCRIPT", element, "scripts are not supported");
            if (element.Name == StylesheetFiles.Xsl + "sort")
                CheckSort(element);
        }

        var asksFirst = StylesheetExpressions.Of(document).Any(expression => expression.Calls("function-available"));
        foreach (var expression in StylesheetExpressions.Of(document))
            CheckFunctions(expression, asksFirst);
    }

    // Without cultures the engine fails at "upper-first" with the first message, and takes no notice of "lower-first".
    private static void CheckSort(XElement sort)
    {
        if (sort.Attribute("case-order") is { } order)
            throw StylesheetFiles.Problem(
                "ESB-XSL-COMPILE",
                order,
                "case-order of xsl:sort is not supported: text is sorted by code point, upper case first"
            );
    }

    private static void CheckVersion(XElement root)
    {
        var version =
            root.Name.Namespace == StylesheetFiles.Xsl ? root.Attribute("version") : root.Attribute(StylesheetFiles.Xsl + "version");
        var element = root.Descendants()
            .FirstOrDefault(element => element.Name.Namespace == StylesheetFiles.Xsl && LaterElements.Contains(element.Name.LocalName));
        if (version is not null && version.Value.Trim() != "1.0")
            throw StylesheetFiles.Problem(
                "ESB-XSL-VERSION",
                version,
                $"the engine is XSLT 1.0, the stylesheet wants "
                    + $"{version.Value}{(element is null ? "" : $" and has xsl:{element.Name.LocalName}")}"
            );
        if (element is not null)
            throw StylesheetFiles.Problem(
                "ESB-XSL-VERSION",
                element,
                $"the engine is XSLT 1.0, and xsl:{element.Name.LocalName} is of a later version"
            );
    }

    // A stylesheet that asks which functions there are has another way where there are none.
    private static void CheckFunctions(StylesheetExpression expression, bool asksFirst)
    {
        if (expression.Calls("document"))
            throw StylesheetFiles.Problem(
                "ESB-XSL-DOCUMENT",
                expression.Attribute,
                "the function document() is not supported: a map sees its message and its inputs only"
            );
        if (asksFirst)
            return;
        if (LaterFunctions.FirstOrDefault(expression.Calls) is { } later)
            throw StylesheetFiles.Problem(
                "ESB-XSL-VERSION",
                expression.Attribute,
                $"the engine is XSLT 1.0, and {later}() is of a later version"
            );
        foreach (var (prefix, name) in expression.PrefixedFunctions)
        {
            var uri = expression.Attribute.Parent!.GetNamespaceOfPrefix(prefix)?.NamespaceName;
            if (uri is not null && !KnownNamespaces.Contains(uri))
                throw StylesheetFiles.Problem(
                    "ESB-XSL-EXTENSION",
                    expression.Attribute,
                    $"there is no function {prefix}:{name}(): no extensions of the namespace {uri} are known"
                );
        }
    }
}
