using System.Text;
using System.Xml;
using System.Xml.XPath;
using Esb.Content.Expressions;
using Esb.Core.Errors;
using Esb.Core.Messages;

namespace Esb.Content.Splitting;

/// <summary>Divides XML into the elements that an XPath selects, each a document with the namespaces in scope.</summary>
/// <param name="tree">Evaluates the path over a tree.</param>
/// <param name="forward">Finds the elements of the same path without a tree; null where the path needs one.</param>
internal sealed class XmlSplitter(XPathTree tree, XmlForwardSplitter? forward) : IMessageSplitter
{
    internal const string Declarations = "http://www.w3.org/2000/xmlns/";

    internal static readonly XmlWriterSettings Settings = new()
    {
        Encoding = new UTF8Encoding(encoderShouldEmitUTF8Identifier: false),
        OmitXmlDeclaration = true,
    };

    public bool CanStream => forward is not null;

    public IEnumerable<SplitItem> Split(MessageBody body) => body.CanReopen ? forward!.Split(body) : SplitTree(body);

    private IEnumerable<SplitItem> SplitTree(MessageBody body)
    {
        var nodes = (XPathNodeIterator)tree.Evaluate(body);
        while (nodes.MoveNext())
        {
            var element = nodes.Current is TimedNavigator timed ? timed.Navigator : nodes.Current!;
            if (element.NodeType != XPathNodeType.Element)
                throw new EsbException(
                    "ESB-SPLIT-NODE",
                    $"The path of the split selects {element.NodeType.ToString().ToLowerInvariant()} nodes; expected elements.",
                    FaultKind.Invalid
                );
            yield return new SplitItem(MessageBody.FromBytes(Write(element)), "application/xml")
            {
                Line = element is IXmlLineInfo place ? place.LineNumber : 0,
            };
        }
    }

    // Prefixes may also stand in texts, such as values of xsi:type, so all that are in scope are declared.
    private static byte[] Write(XPathNavigator element)
    {
        using var bytes = new MemoryStream();
        using (var writer = XmlWriter.Create(bytes, Settings))
        {
            writer.WriteStartElement(element.Prefix, element.LocalName, element.NamespaceURI);
            foreach (
                var (prefix, uri) in element.GetNamespacesInScope(XmlNamespaceScope.ExcludeXml).Where(scope => scope.Key != element.Prefix)
            )
            {
                if (prefix.Length > 0)
                    writer.WriteAttributeString("xmlns", prefix, Declarations, uri);
                else if (element.Prefix.Length > 0)
                    writer.WriteAttributeString("xmlns", Declarations, uri);
            }

            var part = element.Clone();
            if (part.MoveToFirstAttribute())
            {
                do writer.WriteAttributeString(part.Prefix, part.LocalName, part.NamespaceURI, part.Value);
                while (part.MoveToNextAttribute());
                part.MoveToParent();
            }

            if (part.MoveToFirstChild())
            {
                do writer.WriteNode(part, defattr: true);
                while (part.MoveToNext());
            }

            writer.WriteEndElement();
        }

        return bytes.ToArray();
    }
}
