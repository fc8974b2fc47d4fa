using System.Xml;
using Esb.Content.Xml;
using Esb.Core.Errors;

namespace Esb.Endpoints.Soap.Envelopes;

/// <summary>Reads envelopes in one pass, and cuts the child of Body out of their bytes. Thread-safe.</summary>
/// <param name="xml">Reads XML from external systems.</param>
/// <param name="maxHeaders">The most headers of an envelope.</param>
/// <param name="maxHeaderBytes">The largest size of all headers together.</param>
internal sealed class EnvelopeReader(XmlInput xml, int maxHeaders, long maxHeaderBytes)
{
    /// <summary>The code of bytes that are XML and no envelope.</summary>
    public const string Code = "ESB-SOAP-ENVELOPE";

    /// <summary>Reads an envelope to its end.</summary>
    /// <exception cref="EsbException"><c>ESB-SOAP-ENVELOPE</c>, <c>ESB-SOAP-VERSION</c>, <c>ESB-SOAP-BODY</c>, <c>ESB-SOAP-HEADERS</c>, or
    /// a code of <see cref="XmlInput"/>.</exception>
    public SoapEnvelope Read(ReadOnlyMemory<byte> bytes)
    {
        bytes = xml.ToUtf8(bytes);
        using var reader = xml.Read(bytes);
        var cutter = new ElementCutter(bytes);
        reader.MoveToContent();
        if (reader.LocalName != "Envelope")
            throw Refuse(reader, "expected an Envelope");
        if (SoapVersion.Of(reader.NamespaceURI) is not { } version)
            throw new SoapFaultException(
                SoapFaultCode.VersionMismatch,
                "ESB-SOAP-VERSION",
                "The namespace of the envelope is neither that of SOAP 1.1 nor that of SOAP 1.2."
            );

        var outer = NamespaceScope.At(reader);
        IReadOnlyList<SoapHeader> headers = [];
        if (reader.IsEmptyElement || !MoveToChild(reader, depth: 1))
            throw Refuse(reader, "expected a Body");
        if (Is(reader, version, "Header"))
        {
            headers = ReadHeaders(reader, cutter, version, outer.With(reader));
            if (!MoveToChild(reader, depth: 1))
                throw Refuse(reader, "expected a Body");
        }

        if (!Is(reader, version, "Body"))
            throw Refuse(reader, "expected a Body");
        var (name, body) = ReadBody(reader, cutter, outer.With(reader));
        if (MoveToChild(reader, depth: 1))
            throw Refuse(reader, "expected nothing behind the Body");
        while (reader.Read())
        {
            // what stands behind the envelope must be well-formed too
        }

        return new SoapEnvelope(version, headers, name, body);
    }

    private IReadOnlyList<SoapHeader> ReadHeaders(XmlReader reader, ElementCutter cutter, SoapVersion version, NamespaceScope around)
    {
        if (reader.IsEmptyElement)
            return [];
        var headers = new List<SoapHeader>();
        var total = 0L;
        while (MoveToChild(reader, depth: 2))
        {
            var (name, uri) = (reader.LocalName, reader.NamespaceURI);
            var (must, role) = (MustUnderstand(reader, version), reader.GetAttribute(version.RoleAttribute, version.Namespace));
            var own = NamespaceScope.At(reader);
            var start = cutter.Locate(reader);
            var element = cutter.Cut(start, cutter.Pass(reader, start), around, own);
            headers.Add(new SoapHeader(name, uri, must, role?.Trim(), element));
            total += element.Length;
            if (headers.Count > maxHeaders || total > maxHeaderBytes)
                throw new EsbException(
                    "ESB-SOAP-HEADERS",
                    $"The envelope has more than {maxHeaders} headers, or more than {maxHeaderBytes} bytes of them.",
                    FaultKind.TooLarge
                );
        }

        return headers;
    }

    private static (XmlQualifiedName? Name, ReadOnlyMemory<byte> Xml) ReadBody(
        XmlReader reader,
        ElementCutter cutter,
        NamespaceScope around
    )
    {
        if (reader.IsEmptyElement || !MoveToChild(reader, depth: 2))
            return (null, default);
        var name = new XmlQualifiedName(reader.LocalName, reader.NamespaceURI);
        var own = NamespaceScope.At(reader);
        var start = cutter.Locate(reader);
        var element = cutter.Cut(start, cutter.Pass(reader, start), around, own);
        if (MoveToChild(reader, depth: 2))
            throw new EsbException("ESB-SOAP-BODY", "The Body has more than one child.", FaultKind.Malformed);
        return (name, element);
    }

    // To the next element at a depth; false at the end of the element around. What was passed over stands at its end tag, or is empty.
    private static bool MoveToChild(XmlReader reader, int depth)
    {
        while (reader.Read())
        {
            switch (reader.NodeType)
            {
                case XmlNodeType.Element:
                    return true;
                case XmlNodeType.EndElement when reader.Depth == depth - 1:
                    return false;
                case XmlNodeType.Text or XmlNodeType.CDATA:
                    throw Refuse(reader, "expected no text between elements");
            }
        }

        return false;
    }

    private static bool Is(XmlReader reader, SoapVersion version, string name) =>
        reader.LocalName == name && reader.NamespaceURI == version.Namespace;

    private static bool MustUnderstand(XmlReader reader, SoapVersion version) =>
        reader.GetAttribute("mustUnderstand", version.Namespace)?.Trim() switch
        {
            null or "0" or "false" => false,
            "1" or "true" => true,
            _ => throw Refuse(reader, "expected 0 or 1 as mustUnderstand"),
        };

    private static EsbException Refuse(XmlReader reader, string expected)
    {
        var place = reader is IXmlLineInfo { LineNumber: > 0 } info ? $" at line {info.LineNumber}, column {info.LinePosition}" : "";
        return new EsbException(Code, $"The body is not a SOAP envelope{place}: {expected}.", FaultKind.Malformed);
    }
}
