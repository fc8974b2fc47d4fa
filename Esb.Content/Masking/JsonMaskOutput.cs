using System.Buffers;
using System.Text.Encodings.Web;
using System.Text.Json;
using Esb.Content.Json;

namespace Esb.Content.Masking;

/// <summary>Writes a document with some of its values replaced.</summary>
internal static class JsonMaskOutput
{
    private static readonly JsonWriterOptions Options = new()
    {
        Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping,
        MaxDepth = JsonInput.MaxDepth,
    };

    /// <param name="document">Sound JSON.</param>
    /// <param name="replacements">What stands in the place of the values that begin at these offsets; null takes a value out, with its
    /// name.</param>
    public static ReadOnlyMemory<byte> Write(ReadOnlySpan<byte> document, Dictionary<int, (MaskAction Action, string? Text)> replacements)
    {
        var output = new ArrayBufferWriter<byte>(document.Length);
        using (var writer = new Utf8JsonWriter(output, Options))
        {
            var reader = new Utf8JsonReader(document, new JsonReaderOptions { MaxDepth = JsonInput.MaxDepth });
            string? name = null;
            while (reader.Read())
            {
                if (reader.TokenType == JsonTokenType.PropertyName)
                {
                    name = reader.GetString();
                    continue;
                }

                if (replacements.TryGetValue((int)reader.TokenStartIndex, out var replacement))
                {
                    Replace(writer, name, replacement.Text, isRoot: reader.CurrentDepth == 0);
                    reader.Skip();
                }
                else
                {
                    if (name is not null)
                        writer.WritePropertyName(name);
                    Copy(writer, ref reader, document);
                }

                name = null;
            }
        }

        return output.WrittenMemory;
    }

    private static void Replace(Utf8JsonWriter writer, string? name, string? text, bool isRoot)
    {
        if (text is null && !isRoot)
            return;
        if (name is not null)
            writer.WritePropertyName(name);
        if (text is null)
            writer.WriteNullValue();
        else
            writer.WriteStringValue(text);
    }

    private static void Copy(Utf8JsonWriter writer, ref Utf8JsonReader reader, ReadOnlySpan<byte> document)
    {
        switch (reader.TokenType)
        {
            case JsonTokenType.StartObject:
                writer.WriteStartObject();
                break;
            case JsonTokenType.EndObject:
                writer.WriteEndObject();
                break;
            case JsonTokenType.StartArray:
                writer.WriteStartArray();
                break;
            case JsonTokenType.EndArray:
                writer.WriteEndArray();
                break;
            default:
                // as it was written, numbers above all
                writer.WriteRawValue(document[(int)reader.TokenStartIndex..(int)reader.BytesConsumed], skipInputValidation: true);
                break;
        }
    }
}
