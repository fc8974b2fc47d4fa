using System.Buffers;
using System.Runtime.InteropServices;
using System.Text;
using System.Text.Json;
using System.Xml;
using Esb.Core.Errors;

namespace Esb.Content.Formats.Conversion;

/// <summary>Writes JSON as XML, the inverse of <see cref="XmlToJson"/>: an array repeats its element, names that XML forbids are written as
/// <c>_xHHHH_</c>, null is an empty element. Thread-safe.</summary>
/// <param name="uris">Namespace URIs by prefix.</param>
internal sealed class JsonToXml(IReadOnlyDictionary<string, string> uris)
{
    private const string TextMember = "#text";

    private static readonly XmlWriterSettings Settings = new()
    {
        Encoding = new UTF8Encoding(encoderShouldEmitUTF8Identifier: false),
        CloseOutput = false,
    };

    /// <param name="value">The JSON.</param>
    /// <param name="root">The root element; null for the only member of the JSON.</param>
    /// <param name="output">Receives the XML, in UTF-8.</param>
    /// <exception cref="EsbException"><c>ESB-CONVERT-ROOT</c>, <c>ESB-CONVERT-VALUE</c>.</exception>
    public void Write(JsonElement value, string? root, IBufferWriter<byte> output)
    {
        if (root is null)
            (root, value) = RootOf(value);
        try
        {
            using var stream = new BufferStream(output);
            using var xml = XmlWriter.Create(stream, Settings);
            WriteElement(root, value, xml);
        }
        catch (ArgumentException ex)
        {
            throw Fault("a text has a character that XML does not allow", ex);
        }
    }

    private static (string Root, JsonElement Value) RootOf(JsonElement value)
    {
        if (value.ValueKind == JsonValueKind.Object)
        {
            using var members = value.EnumerateObject();
            if (members.MoveNext() && members.Current is var only && !members.MoveNext() && IsElement(only))
                return (only.Name, only.Value);
        }

        throw new EsbException(
            "ESB-CONVERT-ROOT",
            "The JSON does not name a root element: it is not an object with one member that is not an array. The setting root names one.",
            FaultKind.Invalid
        );
    }

    private static bool IsElement(JsonProperty member) =>
        member.Value.ValueKind != JsonValueKind.Array && member.Name is not TextMember && !member.Name.StartsWith('@');

    private void WriteElement(string name, JsonElement value, XmlWriter xml)
    {
        var (prefix, local, uri) = NameOf(name);
        if (prefix is null)
            xml.WriteStartElement(local);
        else
            xml.WriteStartElement(prefix, local, uri);
        switch (value.ValueKind)
        {
            case JsonValueKind.Object:
                WriteMembers(value, xml);
                break;
            case JsonValueKind.Array:
                foreach (var item in value.EnumerateArray())
                    WriteElement(ContentForms.Row, item, xml);
                break;
            default:
                WriteText(value, xml);
                break;
        }

        xml.WriteEndElement();
    }

    private void WriteMembers(JsonElement value, XmlWriter xml)
    {
        foreach (var member in value.EnumerateObject().Where(member => member.Name.StartsWith('@')))
            WriteAttribute(member, xml);
        foreach (var member in value.EnumerateObject().Where(member => !member.Name.StartsWith('@')))
        {
            if (member.Name == TextMember)
                WriteText(Scalar(member), xml);
            else if (member.Value.ValueKind != JsonValueKind.Array)
                WriteElement(member.Name, member.Value, xml);
            else
                foreach (var item in member.Value.EnumerateArray())
                    WriteElement(member.Name, item, xml);
        }
    }

    private void WriteAttribute(JsonProperty member, XmlWriter xml)
    {
        var (prefix, local, uri) = NameOf(member.Name[1..]);
        if (prefix is null && local == "xmlns")
            throw Fault("the name @xmlns is reserved");
        if (prefix is null)
            xml.WriteStartAttribute(local);
        else
            xml.WriteStartAttribute(prefix, local, uri);
        WriteText(Scalar(member), xml);
        xml.WriteEndAttribute();
    }

    private static JsonElement Scalar(JsonProperty member) =>
        member.Value.ValueKind is JsonValueKind.Object or JsonValueKind.Array
            ? throw Fault($"the member {FormatFaults.Show(Encoding.UTF8.GetBytes(member.Name))} is no text, number or boolean")
            : member.Value;

    private static void WriteText(JsonElement value, XmlWriter xml)
    {
        if (value.ValueKind == JsonValueKind.String)
            xml.WriteString(value.GetString());
        else if (value.ValueKind != JsonValueKind.Null)
            xml.WriteString(Encoding.UTF8.GetString(JsonMarshal.GetRawUtf8Value(value)));
    }

    private (string? Prefix, string Local, string? Uri) NameOf(string name)
    {
        var colon = name.IndexOf(':', StringComparison.Ordinal);
        if (colon > 0 && colon < name.Length - 1 && uris.TryGetValue(name[..colon], out var uri))
            return (name[..colon], XmlConvert.EncodeLocalName(name[(colon + 1)..])!, uri);
        return name.Length > 0 ? (null, XmlConvert.EncodeLocalName(name)!, null) : throw Fault("a member has no name");
    }

    private static EsbException Fault(string problem, Exception? inner = null) =>
        new("ESB-CONVERT-VALUE", $"The JSON cannot be written as XML: {problem}.", FaultKind.Invalid, inner);
}
