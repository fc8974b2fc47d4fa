using System.Xml.XPath;
using Esb.Content.Xml;
using Esb.Core.Expressions;
using Esb.Core.Processes;

namespace Esb.Content.Expressions;

/// <summary>An XPath over the body. A node-set stands for the text of its first node, and for no value where it is empty.</summary>
internal sealed class XPathValue(XPathExpression expression, XmlInput xml) : IMessageValue
{
    public bool ReadsBody => true;

    public object? Evaluate(MessageContext context) => xml.Navigate(context.Message.Body).Evaluate(expression) switch
    {
        XPathNodeIterator nodes => nodes.MoveNext() ? nodes.Current!.Value : null,
        var value => value,
    };
}

/// <summary>An XPath that stands alone as a condition: XPath 1.0, section 4.3, function <c>boolean</c>.</summary>
internal sealed class XPathCondition(XPathExpression expression, XmlInput xml) : IMessageCondition
{
    public bool ReadsBody => true;

    public bool Holds(MessageContext context) => xml.Navigate(context.Message.Body).Evaluate(expression) switch
    {
        XPathNodeIterator nodes => nodes.MoveNext(),
        string text => text.Length > 0,
        double number => number != 0 && !double.IsNaN(number),
        var value => value is true,
    };
}
