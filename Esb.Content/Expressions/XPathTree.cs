using System.Xml.XPath;
using Esb.Content.Xml;
using Esb.Core.Configuration;
using Esb.Core.Errors;
using Esb.Core.Messages;

namespace Esb.Content.Expressions;

/// <summary>An XPath evaluated over the tree of a body, within a time limit. Thread-safe.</summary>
internal sealed class XPathTree(XPathExpression expression, XmlInput xml, TimeProvider time)
{
    /// <summary>Text, a number, a boolean or nodes.</summary>
    /// <param name="body">An XML document.</param>
    /// <param name="read">Makes the result of it; nodes are found while they are read.</param>
    /// <exception cref="EsbException">The body is no sound XML (<see cref="XmlInput"/>), <c>ESB-XPT-TIMEOUT</c>, or
    /// <c>ESB-XPT-NODES</c>.</exception>
    public T Evaluate<T>(MessageBody body, Func<object, T> read)
    {
        try
        {
            return read(Evaluate(body));
        }
        catch (XPathException ex)
        {
            throw new EsbException(
                "ESB-XPT-NODES",
                $"The XPath {Clipped.Name(expression.Expression)} looks for nodes in something that is none.",
                FaultKind.Internal,
                ex
            );
        }
    }

    /// <summary>Text, a number, a boolean or nodes, which are found while they are read.</summary>
    /// <exception cref="EsbException">The body is no sound XML (<see cref="XmlInput"/>), or <c>ESB-XPT-TIMEOUT</c>.</exception>
    public object Evaluate(MessageBody body) =>
        new TimedNavigator(xml.Navigate(body), new EvaluationTime(time, xml.Limits.ExpressionTime)).Evaluate(expression);
}
