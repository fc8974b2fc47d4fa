using System.Xml.XPath;
using Esb.Core.Expressions;
using Esb.Core.Processes;

namespace Esb.Content.Expressions;

/// <summary>An XPath over the body. A node-set stands for the text of its first node, and for no value where it is empty.</summary>
internal sealed class XPathValue(XPathTree tree) : IMessageValue
{
    public bool ReadsBody => true;

    public object? Evaluate(MessageContext context) =>
        tree.Evaluate<object?>(
            context.Message.Body,
            found => found is XPathNodeIterator nodes ? (nodes.MoveNext() ? nodes.Current!.Value : null) : found
        );
}

/// <summary>An XPath that stands alone as a condition: XPath 1.0, section 4.3, function <c>boolean</c>.</summary>
internal sealed class XPathCondition(XPathTree tree) : IMessageCondition
{
    public bool ReadsBody => true;

    public bool Holds(MessageContext context) =>
        tree.Evaluate(
            context.Message.Body,
            found =>
                found switch
                {
                    XPathNodeIterator nodes => nodes.MoveNext(),
                    string text => text.Length > 0,
                    double number => number != 0 && !double.IsNaN(number),
                    _ => found is true,
                }
        );
}
