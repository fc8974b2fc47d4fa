using System.Security;
using System.Text;
using Esb.Content.Wsdl;
using Esb.Content.Xml;
using Esb.Endpoints.Soap.Envelopes;

namespace Esb.Endpoints.Soap.Receiving;

/// <summary>WS-Addressing, as far as an answer tells which request it is for. Answers go to their callers only: ReplyTo and FaultTo choose
/// no target.</summary>
internal static class Addressing
{
    private const string Version10 = "http://www.w3.org/2005/08/addressing";
    private const string Version2004 = "http://schemas.xmlsoap.org/ws/2004/08/addressing";

    /// <summary>True if a namespace is one of WS-Addressing.</summary>
    public static bool IsNamespace(string uri) => uri is Version10 or Version2004;

    /// <summary>The action that the headers say; empty if none.</summary>
    public static string ActionOf(SoapEnvelope envelope, XmlInput xml) => Find(envelope, "Action") is { } header ? TextOf(header, xml) : "";

    /// <summary>The headers of an answer; empty if the request has no MessageID.</summary>
    public static byte[] HeadersOf(SoapEnvelope request, WsdlOperation operation, XmlInput xml)
    {
        if (request.Headers.Count == 0 || Find(request, "MessageID") is not { } id)
            return [];
        var (action, related) = (SecurityElement.Escape(operation.AnswerAction), SecurityElement.Escape(TextOf(id, xml)));
        return Encoding.UTF8.GetBytes(
            $"""<wsa:Action xmlns:wsa="{id.Namespace}">{action}</wsa:Action>"""
                + $"""<wsa:RelatesTo xmlns:wsa="{id.Namespace}">{related}</wsa:RelatesTo>"""
        );
    }

    private static SoapHeader? Find(SoapEnvelope envelope, string name)
    {
        foreach (var header in envelope.Headers)
        {
            if (header.Name == name && IsNamespace(header.Namespace))
                return header;
        }

        return null;
    }

    private static string TextOf(SoapHeader header, XmlInput xml)
    {
        using var reader = xml.Read(header.Xml);
        reader.MoveToContent();
        return reader.IsEmptyElement || !reader.Read() ? "" : reader.Value.Trim();
    }
}
