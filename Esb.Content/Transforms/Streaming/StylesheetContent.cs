using System.Xml.Linq;

namespace Esb.Content.Transforms.Streaming;

/// <summary>What counts of the content of a stylesheet's element (XSLT 1.0, section 3.4): no comments, and no text that is white space
/// only.</summary>
internal static class StylesheetContent
{
    public static IEnumerable<XNode> Of(XElement parent) =>
        parent
            .Nodes()
            .Where(node =>
                node switch
                {
                    XComment or XProcessingInstruction => false,
                    XCData => throw new NotStreamedException(), // a part of the text beside it
                    XText text => text.Value.AsSpan().ContainsAnyExcept(" \t\r\n"),
                    _ => true,
                }
            );
}
