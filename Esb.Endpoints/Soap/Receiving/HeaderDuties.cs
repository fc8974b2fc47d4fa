using System.Xml;
using Esb.Content.Xml;
using Esb.Endpoints.Soap.Envelopes;
using Esb.Endpoints.Soap.Security;

namespace Esb.Endpoints.Soap.Receiving;

/// <summary>Decides which headers of envelopes are understood, and hands those that processes understand to them. Thread-safe.</summary>
/// <param name="settings">The endpoint.</param>
/// <param name="hasTokens">True if the header of WS-Security is read.</param>
internal sealed class HeaderDuties(SoapInboundConfig settings, bool hasTokens)
{
    /// <summary>Beginning of the properties that hold headers.</summary>
    public const string PropertyPrefix = "soap.header.";

    private readonly HashSet<string> _understood = [.. settings.Understands];

    /// <exception cref="SoapFaultException"><c>ESB-SOAP-UNDERSTAND</c>: a header that had to be understood is not.</exception>
    public void Require(SoapEnvelope envelope)
    {
        foreach (var header in envelope.Headers)
        {
            if (!header.MustUnderstand || !envelope.Version.IsForUs(header.Role) || Understands(header))
                continue;
            throw new SoapFaultException(
                SoapFaultCode.MustUnderstand,
                "ESB-SOAP-UNDERSTAND",
                $"The header {header} had to be understood, and is not."
            )
            {
                NotUnderstood = header,
            };
        }
    }

    /// <summary>Adds the headers that processes understand to properties: the text of a header, or the header itself where it has
    /// elements.</summary>
    public void AddTo(Dictionary<string, object> properties, SoapEnvelope envelope, XmlInput xml)
    {
        foreach (var header in envelope.Headers)
        {
            if (_understood.Contains(header.Name) && envelope.Version.IsForUs(header.Role))
                properties[PropertyPrefix + header.Name] = TextOf(header, xml);
        }
    }

    private bool Understands(SoapHeader header) =>
        _understood.Contains(header.Name)
        || Addressing.IsNamespace(header.Namespace)
        || (hasTokens && header is { Name: "Security", Namespace: WssNames.Wsse });

    private static string TextOf(SoapHeader header, XmlInput xml)
    {
        using var reader = xml.Read(header.Xml);
        reader.MoveToContent();
        var text = "";
        while (reader.Read())
        {
            if (reader.NodeType == XmlNodeType.Element)
                return System.Text.Encoding.UTF8.GetString(header.Xml.Span);
            if (reader.NodeType is XmlNodeType.Text or XmlNodeType.CDATA or XmlNodeType.SignificantWhitespace or XmlNodeType.Whitespace)
                text += reader.Value;
        }

        return text;
    }
}
