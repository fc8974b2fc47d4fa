using System.Buffers;
using System.Text.Json;

namespace Esb.Content.Formats.Fields;

internal sealed class TextField : FieldType
{
    public static readonly TextField Instance = new();

    public override string Expected => "a text";

    public override bool HasEmpty => true;

    public override bool TryRead(ReadOnlySpan<byte> text, Utf8JsonWriter json)
    {
        json.WriteStringValue(text);
        return true;
    }

    public override bool TryWrite(JsonElement value, IBufferWriter<byte> text)
    {
        if (value.ValueKind is JsonValueKind.Object or JsonValueKind.Array)
            return false;
        WriteText(value, text);
        return true;
    }
}
