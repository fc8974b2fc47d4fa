using System.Text;
using System.Xml;
using System.Xml.XPath;

namespace Esb.Content.Masking;

/// <summary>Writes a document with some of its nodes replaced, in UTF-8 whatever it was in.</summary>
/// <param name="replacements">What stands in the place of these nodes; null takes a node out. A navigator finds its own position in
/// it.</param>
internal sealed class XmlMaskOutput(Dictionary<XPathNavigator, string?> replacements)
{
    private const string Declarations = "http://www.w3.org/2000/xmlns/";

    private static readonly XmlWriterSettings Settings = new()
    {
        Encoding = new UTF8Encoding(encoderShouldEmitUTF8Identifier: false),
        NewLineHandling = NewLineHandling.Entitize,
        OmitXmlDeclaration = true,
    };

    public ReadOnlyMemory<byte> Write(XPathNavigator document)
    {
        using var output = new MemoryStream();
        using (var writer = XmlWriter.Create(output, Settings))
            WriteChildren(document, writer);
        return output.ToArray();
    }

    private void WriteChildren(XPathNavigator parent, XmlWriter writer)
    {
        var child = parent.Clone();
        for (var isThere = child.MoveToFirstChild(); isThere; isThere = child.MoveToNext())
            WriteNode(child, writer); // the intake bounds the depth
    }

    private void WriteNode(XPathNavigator node, XmlWriter writer)
    {
        var isReplaced = replacements.TryGetValue(node, out var text);
        switch (node.NodeType)
        {
            case XPathNodeType.Element when isReplaced:
                WriteReplaced(node, text, writer);
                break;
            case XPathNodeType.Element:
                WriteStart(node, writer);
                WriteAttributes(node, writer);
                WriteChildren(node, writer);
                writer.WriteEndElement();
                break;
            case XPathNodeType.Comment:
                if (Kept(isReplaced, text, node) is { } comment)
                    writer.WriteComment(comment);
                break;
            case XPathNodeType.ProcessingInstruction:
                if (Kept(isReplaced, text, node) is { } instruction)
                    writer.WriteProcessingInstruction(node.Name, instruction);
                break;
            default:
                writer.WriteString(Kept(isReplaced, text, node));
                break;
        }
    }

    // Its attributes go too: a rule means all that an element says. The root stays, since there is no document without one.
    private static void WriteReplaced(XPathNavigator element, string? text, XmlWriter writer)
    {
        var parent = element.Clone();
        parent.MoveToParent();
        if (text is null && parent.NodeType != XPathNodeType.Root)
            return;
        WriteStart(element, writer);
        writer.WriteString(text);
        writer.WriteEndElement();
    }

    private void WriteAttributes(XPathNavigator element, XmlWriter writer)
    {
        var attribute = element.Clone();
        for (var isThere = attribute.MoveToFirstAttribute(); isThere; isThere = attribute.MoveToNextAttribute())
        {
            if (Kept(replacements.TryGetValue(attribute, out var text), text, attribute) is { } value)
                writer.WriteAttributeString(attribute.Prefix, attribute.LocalName, attribute.NamespaceURI, value);
        }
    }

    private static void WriteStart(XPathNavigator element, XmlWriter writer)
    {
        writer.WriteStartElement(element.Prefix, element.LocalName, element.NamespaceURI);
        var declared = element.Clone();
        for (
            var isThere = declared.MoveToFirstNamespace(XPathNamespaceScope.Local);
            isThere;
            isThere = declared.MoveToNextNamespace(XPathNamespaceScope.Local)
        )
        {
            if (declared.LocalName.Length == 0)
                writer.WriteAttributeString("", "xmlns", Declarations, declared.Value);
            else
                writer.WriteAttributeString("xmlns", declared.LocalName, Declarations, declared.Value);
        }
    }

    private static string? Kept(bool isReplaced, string? text, XPathNavigator node) => isReplaced ? text : node.Value;
}
