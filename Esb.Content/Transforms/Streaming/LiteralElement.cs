using System.Xml.Linq;

namespace Esb.Content.Transforms.Streaming;

/// <summary>An element that stands in a stylesheet as it goes into the output, with its constant attributes and the namespaces that it
/// brings (XSLT 1.0, section 7.1.1).</summary>
internal sealed class LiteralElement
{
    private readonly MarkupName _name;
    private readonly string _namespace;
    private readonly List<(string Prefix, string Uri)> _namespaces;
    private readonly List<(string Prefix, XName Name, string Value)> _attributes;

    private LiteralElement(XElement element)
    {
        _name = new MarkupName(PrefixOf(element, element.Name, isAttribute: false), element.Name.LocalName);
        _namespace = element.Name.NamespaceName;
        _namespaces = [.. NamespacesOf(element)];
        _attributes =
        [
            .. element
                .Attributes()
                .Where(attribute => !attribute.IsNamespaceDeclaration)
                .Select(attribute => (PrefixOf(element, attribute.Name, isAttribute: true), attribute.Name, attribute.Value)),
        ];
    }

    /// <exception cref="NotStreamedException">An attribute is computed, or means something to the engine.</exception>
    public static LiteralElement Of(XElement element)
    {
        if (
            element
                .Attributes()
                .Any(attribute =>
                    attribute.Name.Namespace == StylesheetFiles.Xsl
                    || attribute.Name.Namespace == XNamespace.Xml
                    || attribute.Value.AsSpan().ContainsAny('{', '}')
                )
        )
            throw new NotStreamedException();
        return new LiteralElement(element);
    }

    public void Start(StreamedOutput output)
    {
        output.StartElement(_name, _namespace);
        foreach (var (prefix, uri) in _namespaces)
            output.Declare(prefix, uri);
        foreach (var (prefix, name, value) in _attributes)
            output.Attribute(prefix, name.LocalName, name.NamespaceName, value);
    }

    // From the inside out, each element's in the order of its own declarations: what is inside hides what is outside.
    private static IEnumerable<(string Prefix, string Uri)> NamespacesOf(XElement element) =>
        element
            .AncestorsAndSelf()
            .SelectMany(owner => owner.Attributes().Where(attribute => attribute.IsNamespaceDeclaration))
            .Select(declaration =>
                (Prefix: declaration.Name.Namespace == XNamespace.None ? "" : declaration.Name.LocalName, Uri: declaration.Value)
            )
            .DistinctBy(declaration => declaration.Prefix)
            .Where(declaration => declaration.Uri != StylesheetFiles.Xsl.NamespaceName);

    // Where a namespace has several prefixes, a parsed document does not tell which one was written.
    private static string PrefixOf(XElement element, XName name, bool isAttribute)
    {
        if (name.Namespace == XNamespace.None)
            return "";
        var prefixes = element
            .AncestorsAndSelf()
            .SelectMany(owner => owner.Attributes().Where(attribute => attribute.IsNamespaceDeclaration))
            .DistinctBy(declaration => declaration.Name)
            .Where(declaration => declaration.Value == name.NamespaceName)
            .Select(declaration => declaration.Name.Namespace == XNamespace.None ? "" : declaration.Name.LocalName)
            .Where(prefix => !isAttribute || prefix.Length > 0)
            .ToList();
        return prefixes.Count == 1 ? prefixes[0] : throw new NotStreamedException();
    }
}
