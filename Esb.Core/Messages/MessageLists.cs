using System.Buffers;
using System.Text.Json;

namespace Esb.Core.Messages;

/// <summary>Messages in a row, as one document.</summary>
public static class MessageLists
{
    /// <summary>A JSON array of the bodies: JSON as it is, anything else as text.</summary>
    public static string ToJson(IEnumerable<EsbMessage> messages)
    {
        var buffer = new ArrayBufferWriter<byte>();
        using (var writer = new Utf8JsonWriter(buffer))
        {
            writer.WriteStartArray();
            foreach (var message in messages)
                Write(writer, message);
            writer.WriteEndArray();
        }

        return System.Text.Encoding.UTF8.GetString(buffer.WrittenSpan);
    }

    private static void Write(Utf8JsonWriter writer, EsbMessage message)
    {
        var text = message.Body.ReadText();
        if (message.ContentType?.Contains("json", StringComparison.OrdinalIgnoreCase) == true && TryParse(text) is { } document)
        {
            using (document)
                document.RootElement.WriteTo(writer);
            return;
        }

        writer.WriteStringValue(text);
    }

    private static JsonDocument? TryParse(string text)
    {
        try
        {
            return JsonDocument.Parse(text);
        }
        catch (JsonException)
        {
            return null; // declared as JSON, and is none: kept as the text that it is
        }
    }
}
