using System.Xml.Linq;

namespace Esb.Content.Transforms.Streaming;

/// <summary>What <c>xsl:output</c> says, where it says nothing that needs more than plain XML in UTF-8.</summary>
internal sealed record StreamedOutputSettings(bool HasDeclaration, bool DetectsHtml)
{
    /// <exception cref="NotStreamedException">It wants something else.</exception>
    public static StreamedOutputSettings Of(XElement stylesheet)
    {
        var outputs = stylesheet.Elements(StylesheetFiles.Xsl + "output").ToList();
        if (outputs.Count > 1 || outputs.Any(output => !output.Attributes().All(IsPlain)))
            throw new NotStreamedException();
        var said = outputs.FirstOrDefault();
        return new StreamedOutputSettings(said?.Attribute("omit-xml-declaration")?.Value != "yes", said?.Attribute("method") is null);
    }

    private static bool IsPlain(XAttribute attribute) =>
        (attribute.Name.ToString(), attribute.Value) switch
        {
            ("method", "xml") or ("version", "1.0") or ("indent", "no") => true,
            ("omit-xml-declaration", "yes" or "no") or ("media-type", _) => true,
            ("encoding", var encoding) => encoding.Equals("utf-8", StringComparison.OrdinalIgnoreCase),
            _ => attribute.IsNamespaceDeclaration,
        };
}
