using System.Text.RegularExpressions;
using System.Xml.Linq;

namespace Esb.Content.Transforms;

/// <summary>Finds the expressions of a stylesheet.</summary>
internal static partial class StylesheetExpressions
{
    public static IEnumerable<StylesheetExpression> Of(XDocument stylesheet) => stylesheet.Root!.DescendantsAndSelf().SelectMany(Of);

    /// <summary>Those of one element: any attribute of an instruction may be one; of other elements, what stands in braces.</summary>
    public static IEnumerable<StylesheetExpression> Of(XElement element) =>
        element
            .Attributes()
            .Where(attribute => !attribute.IsNamespaceDeclaration)
            .SelectMany(attribute =>
                element.Name.Namespace == StylesheetFiles.Xsl
                    ? [new StylesheetExpression(attribute, attribute.Value)]
                    : Places().Matches(attribute.Value).Select(place => new StylesheetExpression(attribute, place.Value))
            );

    [GeneratedRegex(@"\{[^}]*\}")]
    private static partial Regex Places();
}
