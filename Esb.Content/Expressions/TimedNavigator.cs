using System.Diagnostics.CodeAnalysis;
using System.Xml;
using System.Xml.XPath;

namespace Esb.Content.Expressions;

/// <summary>Passes a navigator on and counts its moves.</summary>
internal sealed class TimedNavigator(XPathNavigator inner, EvaluationTime time) : XPathNavigator
{
    /// <summary>The navigator that it passes on, which can change what it stands at.</summary>
    public XPathNavigator Navigator => inner;

    public override string BaseURI => inner.BaseURI;

    public override bool HasAttributes => inner.HasAttributes;

    public override bool HasChildren => inner.HasChildren;

    public override bool IsEmptyElement => inner.IsEmptyElement;

    public override string LocalName => inner.LocalName;

    public override string Name => inner.Name;

    public override string NamespaceURI => inner.NamespaceURI;

    public override XmlNameTable NameTable => inner.NameTable;

    public override XPathNodeType NodeType => inner.NodeType;

    public override string Prefix => inner.Prefix;

    public override string Value => inner.Value;

    public override string XmlLang => inner.XmlLang;

    public override XPathNavigator Clone() => new TimedNavigator(inner.Clone(), time);

    public override XmlNodeOrder ComparePosition(XPathNavigator? nav) => inner.ComparePosition(Inner(nav));

    public override bool IsDescendant([NotNullWhen(true)] XPathNavigator? nav) => inner.IsDescendant(Inner(nav));

    public override bool IsSamePosition(XPathNavigator other) => inner.IsSamePosition(Inner(other)!);

    public override bool MoveTo(XPathNavigator other) => inner.MoveTo(Inner(other)!);

    public override bool MoveToAttribute(string localName, string namespaceURI) => Counted(inner.MoveToAttribute(localName, namespaceURI));

    public override bool MoveToChild(string localName, string namespaceURI) => Counted(inner.MoveToChild(localName, namespaceURI));

    public override bool MoveToChild(XPathNodeType type) => Counted(inner.MoveToChild(type));

    public override bool MoveToFirstAttribute() => Counted(inner.MoveToFirstAttribute());

    public override bool MoveToFirstChild() => Counted(inner.MoveToFirstChild());

    public override bool MoveToFirstNamespace(XPathNamespaceScope namespaceScope) => Counted(inner.MoveToFirstNamespace(namespaceScope));

    public override bool MoveToFollowing(string localName, string namespaceURI, XPathNavigator? end) =>
        Counted(inner.MoveToFollowing(localName, namespaceURI, Inner(end)));

    public override bool MoveToFollowing(XPathNodeType type, XPathNavigator? end) => Counted(inner.MoveToFollowing(type, Inner(end)));

    public override bool MoveToId(string id) => Counted(inner.MoveToId(id));

    public override bool MoveToNext() => Counted(inner.MoveToNext());

    public override bool MoveToNext(string localName, string namespaceURI) => Counted(inner.MoveToNext(localName, namespaceURI));

    public override bool MoveToNext(XPathNodeType type) => Counted(inner.MoveToNext(type));

    public override bool MoveToNextAttribute() => Counted(inner.MoveToNextAttribute());

    public override bool MoveToNextNamespace(XPathNamespaceScope namespaceScope) => Counted(inner.MoveToNextNamespace(namespaceScope));

    public override bool MoveToParent() => Counted(inner.MoveToParent());

    public override bool MoveToPrevious() => Counted(inner.MoveToPrevious());

    public override void MoveToRoot() => inner.MoveToRoot();

    private bool Counted(bool hasMoved)
    {
        time.Move();
        return hasMoved;
    }

    private static XPathNavigator? Inner(XPathNavigator? navigator) => navigator is TimedNavigator timed ? timed.Navigator : navigator;
}
