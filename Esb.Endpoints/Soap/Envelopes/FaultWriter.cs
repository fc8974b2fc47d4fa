using System.Text;
using System.Xml;
using Esb.Core.Messages;

namespace Esb.Endpoints.Soap.Envelopes;

/// <summary>Writes faults (SOAP 1.1, section 4.4; SOAP 1.2, part 1, section 5.4).</summary>
internal static class FaultWriter
{
    private const string Prefix = EnvelopeWriter.Prefix;
    private const int LongestReason = 4000;

    private static readonly XmlWriterSettings Settings = new()
    {
        Encoding = new UTF8Encoding(encoderShouldEmitUTF8Identifier: false),
        OmitXmlDeclaration = true,
    };

    /// <summary>Writes an envelope with a fault.</summary>
    public static byte[] Write(SoapVersion version, SoapFault fault)
    {
        using var bytes = new MemoryStream();
        using (var writer = XmlWriter.Create(bytes, Settings))
        {
            writer.WriteStartElement(Prefix, "Envelope", version.Namespace);
            if (fault.NotUnderstood is { } header && version == SoapVersion.V12)
                WriteNotUnderstood(writer, version, header);
            writer.WriteStartElement(Prefix, "Body", version.Namespace);
            writer.WriteStartElement(Prefix, "Fault", version.Namespace);
            if (version == SoapVersion.V11)
                Write11(writer, version, fault);
            else
                Write12(writer, version, fault);
            writer.WriteEndDocument();
        }

        return bytes.ToArray();
    }

    private static void Write11(XmlWriter writer, SoapVersion version, SoapFault fault)
    {
        writer.WriteElementString("faultcode", $"{Prefix}:{NameOf(version, fault.Code)}");
        writer.WriteElementString("faultstring", SafeText.Of(fault.Reason, LongestReason));
        if (fault.WriteDetail is not { } write)
            return;
        writer.WriteStartElement("detail");
        write(writer);
        writer.WriteEndElement();
    }

    private static void Write12(XmlWriter writer, SoapVersion version, SoapFault fault)
    {
        writer.WriteStartElement(Prefix, "Code", version.Namespace);
        writer.WriteElementString(Prefix, "Value", version.Namespace, $"{Prefix}:{NameOf(version, fault.Code)}");
        writer.WriteEndElement();
        writer.WriteStartElement(Prefix, "Reason", version.Namespace);
        writer.WriteStartElement(Prefix, "Text", version.Namespace);
        writer.WriteAttributeString("xml", "lang", null, "en");
        writer.WriteString(SafeText.Of(fault.Reason, LongestReason));
        writer.WriteEndElement();
        writer.WriteEndElement();
        if (fault.WriteDetail is not { } write)
            return;
        writer.WriteStartElement(Prefix, "Detail", version.Namespace);
        write(writer);
        writer.WriteEndElement();
    }

    // SOAP 1.2, part 1, section 5.4.8.
    private static void WriteNotUnderstood(XmlWriter writer, SoapVersion version, SoapHeader header)
    {
        writer.WriteStartElement(Prefix, "Header", version.Namespace);
        writer.WriteStartElement(Prefix, "NotUnderstood", version.Namespace);
        if (header.Namespace.Length > 0)
            writer.WriteAttributeString("xmlns", "h", null, header.Namespace);
        writer.WriteAttributeString("qname", header.Namespace.Length > 0 ? $"h:{header.Name}" : header.Name);
        writer.WriteEndElement();
        writer.WriteEndElement();
    }

    private static string NameOf(SoapVersion version, SoapFaultCode code) =>
        code switch
        {
            SoapFaultCode.Sender when version == SoapVersion.V11 => "Client",
            SoapFaultCode.Receiver when version == SoapVersion.V11 => "Server",
            _ => code.ToString(),
        };
}
