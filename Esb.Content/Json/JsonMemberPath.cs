using System.Buffers;
using System.Text.Json;
using Esb.Content.Json.Paths;
using Esb.Core.Errors;
using Esb.Core.Messages;

namespace Esb.Content.Json;

/// <summary>The place of one member in JSON documents, such as <c>$.customer.address</c>. Immutable and thread-safe.</summary>
public sealed class JsonMemberPath
{
    private static readonly JsonWriterOptions Output = new()
    {
        SkipValidation = true,
        Encoder = System.Text.Encodings.Web.JavaScriptEncoder.UnsafeRelaxedJsonEscaping,
    };

    private readonly string[] _names;

    private JsonMemberPath(string[] names) => _names = names;

    /// <summary>Parses a JSONPath of names; null for any other text.</summary>
    public static JsonMemberPath? Parse(string text)
    {
        try
        {
            var names = JsonPath.Parse(text).Segments.Select(segment => (segment.Only as NameSelector)?.Name).ToArray();
            return names.Length == 0 || names.Contains(null) ? null : new JsonMemberPath(names!);
        }
        catch (JsonPathException)
        {
            return null;
        }
    }

    /// <summary>The document with the member set; objects on the way to it are made where they are missing.</summary>
    /// <param name="document">A JSON document.</param>
    /// <param name="json">The member's value, valid JSON in UTF-8.</param>
    /// <exception cref="EsbException"><c>ESB-JSON-MEMBER</c>: a member on the path is not an object. Or not JSON.</exception>
    public MessageBody Set(MessageBody document, ReadOnlyMemory<byte> json)
    {
        var root = JsonInput.Read(document);
        var output = new ArrayBufferWriter<byte>((int)Math.Min(Array.MaxLength, (document.Length ?? 0) + json.Length + 64));
        using (var writer = new Utf8JsonWriter(output, Output))
            Write(writer, root, 0, json);
        return MessageBody.FromBytes(output.WrittenMemory);
    }

    private void Write(Utf8JsonWriter writer, JsonElement node, int depth, ReadOnlyMemory<byte> json)
    {
        if (node.ValueKind != JsonValueKind.Object)
            throw new EsbException(
                "ESB-JSON-MEMBER",
                $"The body cannot take the member {string.Join('.', _names)}: {Where(depth)} is not an object.",
                FaultKind.Invalid
            );
        var isSet = false;
        writer.WriteStartObject();
        foreach (var member in node.EnumerateObject())
        {
            writer.WritePropertyName(member.Name);
            if (!member.NameEquals(_names[depth]))
                member.Value.WriteTo(writer);
            else if (depth == _names.Length - 1)
                writer.WriteRawValue(json.Span, skipInputValidation: true);
            else
                Write(writer, member.Value, depth + 1, json);
            isSet |= member.NameEquals(_names[depth]);
        }

        if (!isSet)
            WriteNew(writer, depth, json);
        writer.WriteEndObject();
    }

    private void WriteNew(Utf8JsonWriter writer, int depth, ReadOnlyMemory<byte> json)
    {
        for (var i = depth; i < _names.Length - 1; i++)
            writer.WriteStartObject(_names[i]);
        writer.WritePropertyName(_names[^1]);
        writer.WriteRawValue(json.Span, skipInputValidation: true);
        for (var i = depth; i < _names.Length - 1; i++)
            writer.WriteEndObject();
    }

    private string Where(int depth) => depth == 0 ? "it" : string.Join('.', _names.Take(depth));
}
