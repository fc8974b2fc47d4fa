using System.Buffers;
using System.Text;
using System.Text.Json;

namespace Esb.Content.Formats.Fields;

internal sealed class BooleanField(string trueText, string falseText) : FieldType
{
    private readonly byte[] _true = Encoding.UTF8.GetBytes(trueText);
    private readonly byte[] _false = Encoding.UTF8.GetBytes(falseText);

    public override string Expected => $"\"{trueText}\" or \"{falseText}\"";

    public override bool TryRead(ReadOnlySpan<byte> text, Utf8JsonWriter json)
    {
        var isTrue = text.SequenceEqual(_true);
        if (!isTrue && !text.SequenceEqual(_false))
            return false;
        json.WriteBooleanValue(isTrue);
        return true;
    }

    public override bool TryWrite(JsonElement value, IBufferWriter<byte> text)
    {
        var isTrue = value.ValueKind == JsonValueKind.True || PlainText(value).SequenceEqual("true"u8);
        if (!isTrue && value.ValueKind != JsonValueKind.False && !PlainText(value).SequenceEqual("false"u8))
            return false;
        text.Write(isTrue ? _true : _false);
        return true;
    }
}
