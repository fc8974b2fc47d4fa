using System.Buffers;
using System.Runtime.InteropServices;
using System.Text;
using System.Text.Json;

namespace Esb.Content.Formats.Fields;

/// <summary>Reads and writes the values of one field, in UTF-8. Immutable and thread-safe.</summary>
internal abstract class FieldType
{
    /// <summary>The accepted form, as the end of a sentence.</summary>
    public abstract string Expected { get; }

    /// <summary>True if an empty text is a value.</summary>
    public virtual bool HasEmpty => false;

    /// <summary>Reads a text and writes it as a JSON value; false if it is not of the type.</summary>
    public abstract bool TryRead(ReadOnlySpan<byte> text, Utf8JsonWriter json);

    /// <summary>Writes a JSON text, number or boolean as a text; false if it is not of the type. Texts are also accepted for other types,
    /// because XML has no others.</summary>
    public abstract bool TryWrite(JsonElement value, IBufferWriter<byte> text);

    /// <summary>The text of a JSON string, number or boolean.</summary>
    protected static void WriteText(JsonElement value, IBufferWriter<byte> text)
    {
        var raw = JsonMarshal.GetRawUtf8Value(value);
        if (value.ValueKind != JsonValueKind.String)
            text.Write(raw);
        else if (!raw.Contains((byte)'\\'))
            text.Write(raw[1..^1]);
        else
            Encoding.UTF8.GetBytes(value.GetString()!, text);
    }

    /// <summary>The text of a JSON string or number without escapes; empty otherwise.</summary>
    protected static ReadOnlySpan<byte> PlainText(JsonElement value)
    {
        var raw = JsonMarshal.GetRawUtf8Value(value);
        return value.ValueKind switch
        {
            JsonValueKind.Number => raw,
            JsonValueKind.String => raw[1..^1],
            _ => [],
        };
    }
}
