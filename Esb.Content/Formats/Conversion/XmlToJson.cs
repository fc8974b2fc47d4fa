using System.Text;
using System.Text.Json;
using System.Xml;
using Esb.Content.Json;
using Esb.Content.Schemas;
using Esb.Core.Errors;

namespace Esb.Content.Formats.Conversion;

/// <summary>Writes XML as JSON: attributes as <c>@a</c>, text beside others as <c>#text</c>, repeated siblings as arrays. Every value is a
/// text, unless a schema gives it another type. Thread-safe.</summary>
/// <remarks>A name has the prefix that the section <c>namespaces</c> gives to its namespace; other namespaces, comments, processing
/// instructions and blanks between elements are dropped.</remarks>
/// <param name="prefixes">Prefixes by namespace URI.</param>
/// <param name="arrays">Names of elements that are always arrays.</param>
/// <param name="types">The types of values; null for texts.</param>
internal sealed class XmlToJson(IReadOnlyDictionary<string, string> prefixes, IReadOnlyCollection<string> arrays, ValueTypes? types = null)
{
    public void Write(XmlReader xml, Utf8JsonWriter json)
    {
        xml.MoveToContent();
        var root = Read(xml, depth: 1);
        while (xml.Read())
        {
            // what follows the root must be read to be refused
        }

        json.WriteStartObject();
        json.WritePropertyName(root.Name);
        Write(root, types?.Member(root.Name), json);
        json.WriteEndObject();
    }

    private Element Read(XmlReader xml, int depth)
    {
        if (depth >= JsonInput.MaxDepth)
            throw new EsbException(
                "ESB-CONVERT-VALUE",
                $"The XML is nested deeper than JSON may be, {JsonInput.MaxDepth} levels.",
                FaultKind.Invalid
            );
        var element = new Element(NameOf(xml));
        var isEmpty = xml.IsEmptyElement;
        while (xml.MoveToNextAttribute())
        {
            if (xml.NamespaceURI != XmlNamespaces.Declarations)
                element.Attributes.Add(KeyValuePair.Create($"@{NameOf(xml)}", xml.Value));
        }

        if (isEmpty)
            return element;
        while (xml.Read() && xml.NodeType != XmlNodeType.EndElement)
        {
            if (xml.NodeType == XmlNodeType.Element)
                element.Children.Add(Read(xml, depth + 1));
            else if (xml.NodeType is XmlNodeType.Text or XmlNodeType.CDATA or XmlNodeType.Whitespace or XmlNodeType.SignificantWhitespace)
                element.Append(xml.Value);
        }

        return element;
    }

    private void Write(Element element, ValueTypes? own, Utf8JsonWriter json)
    {
        var text = element.Text;
        if (element.Attributes.Count + element.Children.Count == 0)
        {
            TypedText.Write(text, own, json);
            return;
        }

        json.WriteStartObject();
        foreach (var (name, value) in element.Attributes)
            WriteText(name, value, own, json);
        foreach (var group in element.Children.GroupBy(child => child.Name))
            WriteGroup(group.Key, [.. group], own?.Member(group.Key), json);
        if (element.Children.Count > 0 ? !string.IsNullOrWhiteSpace(text) : text.Length > 0)
            WriteText(TypedText.Member, text, own, json);
        json.WriteEndObject();
    }

    private static void WriteText(string name, string value, ValueTypes? owner, Utf8JsonWriter json)
    {
        json.WritePropertyName(name);
        TypedText.Write(value, owner?.Member(name), json);
    }

    private void WriteGroup(string name, Element[] children, ValueTypes? own, Utf8JsonWriter json)
    {
        json.WritePropertyName(name);
        var isArray = children.Length > 1 || arrays.Contains(name) || own is { IsArray: true };
        if (isArray)
            json.WriteStartArray();
        foreach (var child in children)
            Write(child, isArray && own is { IsArray: true } ? own.Item : own, json);
        if (isArray)
            json.WriteEndArray();
    }

    private string NameOf(XmlReader xml)
    {
        var name = XmlConvert.DecodeName(xml.LocalName);
        return xml.NamespaceURI.Length > 0 && prefixes.TryGetValue(xml.NamespaceURI, out var prefix) ? $"{prefix}:{name}" : name;
    }

    private sealed class Element(string name)
    {
        private string _text = "";
        private StringBuilder? _longer;

        public string Name => name;

        public List<KeyValuePair<string, string>> Attributes { get; } = [];

        public List<Element> Children { get; } = [];

        public string Text => _longer?.ToString() ?? _text;

        // Most elements have one piece of text.
        public void Append(string piece)
        {
            if (_longer is null && _text.Length == 0)
                _text = piece;
            else
                (_longer ??= new StringBuilder(_text)).Append(piece);
        }
    }
}
