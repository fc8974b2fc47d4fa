using System.Diagnostics.CodeAnalysis;
using System.Xml;
using Esb.Core.Errors;

namespace Esb.Content.Xml;

/// <summary>Wraps a reader, checks depth, attributes and namespaces while reading, and reports errors in our own words.</summary>
/// <param name="inner">The reader.</param>
/// <param name="bytes">The document, or its beginning; empty for a stream.</param>
/// <param name="isComplete">True if these are all bytes of the document.</param>
/// <param name="limits">The limits.</param>
internal sealed class BoundedXmlReader(XmlReader inner, ReadOnlyMemory<byte> bytes, bool isComplete, XmlLimits limits)
    : XmlReader,
        IXmlLineInfo
{
    private readonly IXmlLineInfo? _position = inner as IXmlLineInfo;
    private readonly bool _mayExceed = !isComplete || bytes.Length > limits.AttributeCharacters; // in any encoding
    private readonly NamespaceCount? _namespaces = NamespaceCount.For(bytes.Span, isComplete, limits.Namespaces);

    /// <summary>The namespaces in scope where the reader stands.</summary>
    public IDictionary<string, string> NamespacesInScope =>
        ((IXmlNamespaceResolver)inner).GetNamespacesInScope(XmlNamespaceScope.ExcludeXml);

    public override int AttributeCount => inner.AttributeCount;

    public override string BaseURI => inner.BaseURI;

    public override int Depth => inner.Depth;

    public override bool EOF => inner.EOF;

    public override bool HasValue => inner.HasValue;

    public override bool IsDefault => inner.IsDefault;

    public override bool IsEmptyElement => inner.IsEmptyElement;

    public override string LocalName => inner.LocalName;

    public override string Name => inner.Name;

    public override string NamespaceURI => inner.NamespaceURI;

    public override XmlNameTable NameTable => inner.NameTable;

    public override XmlNodeType NodeType => inner.NodeType;

    public override string Prefix => inner.Prefix;

    public override ReadState ReadState => inner.ReadState;

    public override XmlReaderSettings? Settings => inner.Settings;

    public override string XmlLang => inner.XmlLang;

    public override XmlSpace XmlSpace => inner.XmlSpace;

    public int LineNumber => _position?.LineNumber ?? 0;

    public int LinePosition => _position?.LinePosition ?? 0;

    public override string Value
    {
        get
        {
            try
            {
                return inner.Value; // a long text is read only when it is asked for, so its errors come up here
            }
            catch (XmlException ex)
            {
                throw XmlFaults.Explain(ex, bytes, limits);
            }
        }
    }

    public override bool Read()
    {
        try
        {
            if (!inner.Read())
                return false;
        }
        catch (XmlException ex)
        {
            throw XmlFaults.Explain(ex, bytes, limits);
        }

        if (inner.NodeType == XmlNodeType.Element)
            CheckElement();
        return true;
    }

    public bool HasLineInfo() => _position?.HasLineInfo() ?? false;

    public override void Close() => inner.Close();

    public override string GetAttribute(int i) => inner.GetAttribute(i);

    public override string? GetAttribute(string name) => inner.GetAttribute(name);

    public override string? GetAttribute(string name, string? namespaceURI) => inner.GetAttribute(name, namespaceURI);

    public override string? LookupNamespace(string prefix) => inner.LookupNamespace(prefix);

    public override bool MoveToAttribute(string name) => inner.MoveToAttribute(name);

    public override bool MoveToAttribute(string name, string? ns) => inner.MoveToAttribute(name, ns);

    public override bool MoveToElement() => inner.MoveToElement();

    public override bool MoveToFirstAttribute() => inner.MoveToFirstAttribute();

    public override bool MoveToNextAttribute() => inner.MoveToNextAttribute();

    public override bool ReadAttributeValue() => inner.ReadAttributeValue();

    [DoesNotReturn]
    public override void ResolveEntity() => throw new InvalidOperationException("Entities are not resolved.");

    private void CheckElement()
    {
        if (inner.Depth >= limits.Depth)
            throw Refuse("ESB-XML-DEPTH", $"elements are nested deeper than {limits.Depth}", FaultKind.Malformed);
        if (inner.AttributeCount > limits.Attributes)
            throw Refuse("ESB-XML-LIMIT", $"an element has more than {limits.Attributes} attributes", FaultKind.TooLarge);
        if (_mayExceed)
            CheckAttributes();
        if (_namespaces?.Exceeds(inner) == true)
            throw Refuse("ESB-XML-LIMIT", $"more than {limits.Namespaces} namespace declarations are in scope", FaultKind.TooLarge);
    }

    // Includes unused attributes: all input that is read is checked.
    private void CheckAttributes()
    {
        while (inner.MoveToNextAttribute())
        {
            if (inner.Value.Length > limits.AttributeCharacters)
                throw Refuse("ESB-XML-LIMIT", $"an attribute is longer than {limits.AttributeCharacters} characters", FaultKind.TooLarge);
        }

        inner.MoveToElement();
    }

    private EsbException Refuse(string code, string reason, FaultKind kind) =>
        new(code, $"The XML is refused at line {LineNumber}, column {LinePosition}: {reason}.", kind);
}
