using System.Xml.XPath;
using Esb.Content.Xml;
using Esb.Core.Messages;

namespace Esb.Content.Expressions;

/// <summary>An XPath evaluated over the tree of a body, within a time limit. Thread-safe.</summary>
internal sealed class XPathTree(XPathExpression expression, XmlInput xml, TimeProvider time)
{
    /// <summary>Text, a number, a boolean or nodes.</summary>
    /// <exception cref="Esb.Core.Errors.EsbException">The body is no sound XML (<see cref="XmlInput"/>), or
    /// <c>ESB-XPT-TIMEOUT</c>.</exception>
    public object Evaluate(MessageBody body) =>
        new TimedNavigator(xml.Navigate(body), new EvaluationTime(time, xml.Limits.ExpressionTime)).Evaluate(expression);
}
