using System.Collections;
using System.Xml.XPath;
using Esb.Content.Expressions;
using Esb.Content.Xml;
using Esb.Core.Messages;

namespace Esb.Content.Masking;

/// <summary>A rule for bodies that are XML.</summary>
internal sealed record XmlRule(XPathExpression Nodes, MaskAction Action);

/// <summary>Masks XML. Thread-safe.</summary>
internal sealed class XmlMask(IReadOnlyList<XmlRule> rules, ValueMask values, XmlInput xml, TimeProvider time)
{
    /// <summary>The document as it may be recorded; the same bytes where no rule selects anything.</summary>
    /// <exception cref="Esb.Core.Errors.EsbException">It is no sound XML, or an expression took too long.</exception>
    /// <exception cref="MaskException">A rule selects what cannot be masked.</exception>
    public ReadOnlyMemory<byte> Apply(MessageBody body, MaskFindings findings)
    {
        var document = xml.Navigate(body);
        var selected = Select(document);
        if (selected.Count == 0)
            return body.Bytes;

        var replacements = new Dictionary<XPathNavigator, string?>(SamePosition.Comparer);
        foreach (var (node, action) in selected)
            replacements[node] = Replacement(node, action, findings);
        return new XmlMaskOutput(replacements).Write(document);
    }

    private Dictionary<XPathNavigator, MaskAction> Select(XPathNavigator document)
    {
        var selected = new Dictionary<XPathNavigator, MaskAction>(SamePosition.Comparer);
        foreach (var rule in rules)
        {
            var start = new TimedNavigator(document.Clone(), new EvaluationTime(time, xml.Limits.ExpressionTime));
            foreach (XPathNavigator found in start.Select(rule.Nodes))
            {
                var node = ((TimedNavigator)found).Navigator.Clone();
                if (node.NodeType == XPathNodeType.Namespace)
                    throw new MaskException("A namespace cannot be masked.");
                if (node.NodeType == XPathNodeType.Root)
                    node.MoveToChild(XPathNodeType.Element);
                if (!selected.TryGetValue(node, out var known) || known < rule.Action)
                    selected[node] = rule.Action;
            }
        }

        return selected;
    }

    private string? Replacement(XPathNavigator node, MaskAction action, MaskFindings findings)
    {
        var masked = values.Apply(action, node.Value, IsSingle(node));
        findings.Add(node.Value, masked);
        if (node.NodeType != XPathNodeType.Element)
            return masked;

        foreach (XPathNavigator inner in node.Select("descendant::node()|descendant-or-self::*/@*"))
        {
            if (inner.NodeType != XPathNodeType.Element)
                findings.Add(inner.Value, masked);
        }

        return masked;
    }

    private static bool IsSingle(XPathNavigator node) => node.SelectChildren(XPathNodeType.Element).Count == 0;

    /// <summary>Navigators that stand at the same node are equal.</summary>
    private sealed class SamePosition : IEqualityComparer<XPathNavigator>
    {
        public static readonly SamePosition Comparer = new();

        private static readonly IEqualityComparer Positions = XPathNavigator.NavigatorComparer;

        public bool Equals(XPathNavigator? x, XPathNavigator? y) => Positions.Equals(x, y);

        public int GetHashCode(XPathNavigator obj) => Positions.GetHashCode(obj);
    }
}
