using System.Text.Json;
using Esb.Configuration;
using Esb.Content.Expressions;
using Esb.Content.Formats.Csv;
using Esb.Content.Formats.JsonLines;
using Esb.Content.Json;
using Esb.Content.Masking;
using Esb.Content.Xml;
using Esb.Core.Configuration;
using Esb.Core.Errors;
using Esb.Core.Messages;

namespace Esb.Content.Formats.Conversion;

/// <summary>Converts bodies between XML, JSON and the formats of a configuration. Immutable and thread-safe.</summary>
/// <param name="formats">The formats.</param>
/// <param name="xml">Reads XML.</param>
/// <param name="namespaces">Prefixes of names in JSON.</param>
/// <param name="limits">Bounds of the result: four times <c>maxBodySize</c>, as for maps.</param>
public sealed class ContentConverter(FormatModels formats, XmlInput xml, NamespaceModel namespaces, LimitsConfig limits)
{
    private readonly long _maxOutput = 4 * limits.MaxBodySize.Bytes;
    private readonly JsonToXml _toXml = new(namespaces.Uris);
    private readonly IReadOnlyDictionary<string, string> _prefixes = XmlNamespaces.PrefixesOf(namespaces.Uris);

    /// <summary>A converter without configuration: knows JSON, XML, and <c>csv</c> and <c>json-lines</c> with their default
    /// settings.</summary>
    public static ContentConverter WithoutConfiguration()
    {
        var (errors, limits) = (new ConfigErrors(), new LimitsConfig());
        return new ContentConverter(
            new FormatModels(
                new Dictionary<string, IMessageFormat?>
                {
                    ["csv"] = FormatCompiler.Compile("csv", new CsvFormatConfig(), errors),
                    ["json-lines"] = FormatCompiler.Compile("json-lines", new JsonLinesFormatConfig(), errors),
                },
                isWhole: true
            ),
            new XmlInput(XmlLimits.From(limits)),
            new NamespaceModel(new Dictionary<string, string>()),
            limits
        );
    }

    /// <summary>All forms that can be converted: <c>json</c>, <c>xml</c> and the names of the formats.</summary>
    public IReadOnlyList<string> Forms => [ContentForms.Json, ContentForms.Xml, .. formats.Names];

    /// <summary>True if a form of this name exists, or may have been among those that could not be read.</summary>
    public bool Knows(string form) => form is ContentForms.Json or ContentForms.Xml || formats.Knows(form);

    /// <summary>The format with this name; null if not configured.</summary>
    public IMessageFormat? Find(string name) => formats.Find(name);

    /// <summary>The form of a body by its content type, or else by its first byte.</summary>
    /// <exception cref="EsbException"><c>ESB-CONVERT-TYPE</c>: neither tells.</exception>
    public string FormOf(MessageBody body, string? contentType)
    {
        var type = MediaTypeOf(contentType);
        if (type.EndsWith("/json", StringComparison.OrdinalIgnoreCase) || type.EndsWith("+json", StringComparison.OrdinalIgnoreCase))
            return ContentForms.Json;
        if (type.EndsWith("/xml", StringComparison.OrdinalIgnoreCase) || type.EndsWith("+xml", StringComparison.OrdinalIgnoreCase))
            return ContentForms.Xml;
        var fitting = formats
            .All.Where(format => MediaTypeOf(format.ContentType).Equals(type, StringComparison.OrdinalIgnoreCase))
            .Take(2)
            .ToList();
        if (fitting is [var only])
            return only.Name;
        return BodyFormats.Of(body.Bytes.Span, contentType) switch
        {
            _ when fitting.Count > 1 => throw Undecided(contentType),
            BodyFormat.Xml => ContentForms.Xml,
            BodyFormat.Json when JsonRoot.KindOf(body.Bytes.Span) is JsonRoot.Object or "an array" => ContentForms.Json,
            _ => throw Undecided(contentType),
        };
    }

    /// <summary>Converts a buffered body.</summary>
    /// <param name="body">The body; it is returned unchanged where both forms are the same JSON or XML, once it is checked.</param>
    /// <param name="from">The form of the body.</param>
    /// <param name="to">The form to make.</param>
    /// <param name="options">Options between XML and JSON.</param>
    /// <exception cref="EsbException">The body is not of its form, or cannot be written in the other.</exception>
    /// <exception cref="KeyNotFoundException">There is no such form; the configuration was not checked.</exception>
    public ConvertedBody Convert(MessageBody body, string from, string to, ConversionOptions options)
    {
        if (to == ContentForms.Json)
            return new ConvertedBody(
                from == ContentForms.Json ? Checked(body) : MessageBody.FromBytes(ToJson(body, from, options)),
                "application/json"
            );
        var output = new BoundedBuffer(_maxOutput);
        if (to == ContentForms.Xml)
        {
            if (from == ContentForms.Xml)
                return new ConvertedBody(CheckedXml(body), "application/xml");
            _toXml.Write(Values(body, from, options), options.Root ?? (from == ContentForms.Json ? null : from), output);
            return new ConvertedBody(MessageBody.FromBytes(output.Written), "application/xml; charset=utf-8");
        }

        var format = Format(to);
        var isXmlList = format.IsList && from == ContentForms.Xml;
        var values = Values(body, from, isXmlList ? options with { Arrays = [.. options.Arrays, ContentForms.Row] } : options);
        format.Write(from == ContentForms.Xml ? RecordsOf(values, format) : values, output);
        return new ConvertedBody(MessageBody.FromBytes(output.Written), format.ContentType);
    }

    private static MessageBody Checked(MessageBody body)
    {
        JsonInput.Read(body);
        return body;
    }

    private MessageBody CheckedXml(MessageBody body)
    {
        using var reader = xml.Read(body.Bytes);
        while (reader.Read())
        {
            // reading checks it
        }

        return body;
    }

    private JsonElement Values(MessageBody body, string from, ConversionOptions options) =>
        JsonInput.Read(from == ContentForms.Json ? body : MessageBody.FromBytes(ToJson(body, from, options)));

    private ReadOnlyMemory<byte> ToJson(MessageBody body, string from, ConversionOptions options)
    {
        var output = new BoundedBuffer(_maxOutput);
        using var json = new Utf8JsonWriter(output, FormatJson.Options);
        if (from == ContentForms.Xml)
        {
            using var reader = xml.Read(body.Bytes);
            new XmlToJson(_prefixes, options.Arrays, options.Types).Write(reader, json);
        }
        else
        {
            Format(from).Read(body.Bytes, json);
        }

        json.Flush();
        return output.Written;
    }

    // The root element stands for the text, its rows for the records.
    private static JsonElement RecordsOf(JsonElement document, IMessageFormat format)
    {
        var root = document.EnumerateObject().First().Value;
        if (!format.IsList)
            return root;
        if (root.ValueKind == JsonValueKind.Object && root.TryGetProperty(ContentForms.Row, out var rows))
            return rows;
        return root.ValueKind == JsonValueKind.String
            ? JsonElement.Parse("[]"u8)
            : throw FormatFaults.Unwritable(format.Name, 1, null, $"expected elements {ContentForms.Row} within the root");
    }

    private IMessageFormat Format(string name) => formats.Find(name) ?? throw new KeyNotFoundException($"There is no format '{name}'.");

    private static string MediaTypeOf(string? contentType) => contentType?.Split(';')[0].Trim() ?? "";

    private static EsbException Undecided(string? contentType) =>
        new(
            "ESB-CONVERT-TYPE",
            $"The content type {(string.IsNullOrEmpty(contentType) ? "is missing and" : $"'{SafeText.Of(contentType, 100)}'")} does "
                + $"not tell one form of the body; the setting from names it.",
            FaultKind.Malformed
        );
}
