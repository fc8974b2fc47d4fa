using System.Buffers;
using System.Text.Json;
using Esb.Content.Expressions;
using Esb.Content.Formats.Conversion;
using Esb.Content.Json;
using Esb.Content.Xml;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Processes;

namespace Esb.Content.Transforms.Documents;

/// <summary>Reads bodies for scripts and templates: JSON as it is, XML in its JSON form, anything else as text. Thread-safe.</summary>
internal sealed class DocumentInput(XmlInput xml, IReadOnlyDictionary<string, string> namespaces)
{
    // An array takes a level of its own.
    private static readonly JsonDocumentOptions Deep = new() { MaxDepth = 2 * JsonInput.MaxDepth };

    private readonly XmlToJson _xmlToJson = new(XmlNamespaces.PrefixesOf(namespaces), []);

    /// <summary>Reads the body by the media type of the message; without one, or by <c>application/octet-stream</c>, by its first
    /// character.</summary>
    /// <exception cref="EsbException"><c>ESB-JSON-…</c>, <c>ESB-XML-…</c>, <c>ESB-CONVERT-VALUE</c> or <c>ESB-BODY-ENCODING</c>: it cannot
    /// be read.</exception>
    public MapDocument Read(EsbMessage message) =>
        KindOf(message) switch
        {
            MadeKind.Json => new MapDocument(JsonInput.Read(message.Body), null),
            MadeKind.Xml => ReadXml(message.Body),
            _ => new MapDocument(default, BodyText.Read(message)),
        };

    /// <summary>Reads a further document, which has no media type.</summary>
    /// <exception cref="EsbException">As <see cref="Read(EsbMessage)"/>.</exception>
    public MapDocument Read(MessageBody body) =>
        Guess(body) switch
        {
            MadeKind.Json => new MapDocument(JsonInput.Read(body), null),
            MadeKind.Xml => ReadXml(body),
            _ => new MapDocument(default, body.ReadText()),
        };

    private MapDocument ReadXml(MessageBody body)
    {
        using var reader = xml.Read(body.Bytes);
        var buffer = new ArrayBufferWriter<byte>(4_096);
        using (var json = new Utf8JsonWriter(buffer, new JsonWriterOptions { SkipValidation = true }))
            _xmlToJson.Write(reader, json);
        return new MapDocument(JsonDocument.Parse(buffer.WrittenMemory, Deep).RootElement, null);
    }

    private static MadeKind KindOf(EsbMessage message) =>
        message.ContentType is { Length: > 0 } type && !type.StartsWith("application/octet-stream", StringComparison.OrdinalIgnoreCase)
            ? MapContentType.KindOf(type)
            : Guess(message.Body);

    private static MadeKind Guess(MessageBody body)
    {
        var bytes = body.Bytes.Span;
        if (bytes is [0xFE, 0xFF, ..] or [0xFF, 0xFE, ..])
            return MadeKind.Xml; // JSON is UTF-8 here
        if (bytes.StartsWith("\uFEFF"u8))
            bytes = bytes[3..];
        return bytes.TrimStart(" \t\r\n"u8) switch
        {
            [(byte)'<', ..] => MadeKind.Xml,
            [(byte)'{' or (byte)'[', ..] => MadeKind.Json,
            _ => MadeKind.Text,
        };
    }
}
