using System.Buffers;
using System.Text.Encodings.Web;
using System.Text.Json;
using Esb.Core.Processes;

namespace Esb.Content.Codecs;

/// <summary>The list of decoded entries, as JSON.</summary>
public static class EntryList
{
    private static readonly JsonWriterOptions Options = new() { Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping };

    /// <summary>The list as text.</summary>
    public static string TextOf(IReadOnlyList<MessageEntry> entries) => System.Text.Encoding.UTF8.GetString(ToJson(entries).Span);

    /// <summary>An array of name, content type and length of each entry.</summary>
    public static ReadOnlyMemory<byte> ToJson(IReadOnlyList<MessageEntry> entries)
    {
        var output = new ArrayBufferWriter<byte>();
        using (var writer = new Utf8JsonWriter(output, Options))
        {
            writer.WriteStartArray();
            foreach (var entry in entries)
            {
                writer.WriteStartObject();
                writer.WriteString("name", entry.Name);
                if (entry.ContentType is { } type)
                    writer.WriteString("contentType", type);
                writer.WriteNumber("length", entry.Body.Length ?? 0);
                writer.WriteEndObject();
            }

            writer.WriteEndArray();
        }

        return output.WrittenMemory;
    }
}
