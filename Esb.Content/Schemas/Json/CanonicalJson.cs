using System.Globalization;
using System.Runtime.InteropServices;
using System.Text;
using System.Text.Json;

namespace Esb.Content.Schemas.Json;

/// <summary>A text that is the same for equal JSON values, in any order of members and any notation of numbers.</summary>
internal static class CanonicalJson
{
    public static string Of(JsonElement value)
    {
        var text = new StringBuilder();
        Write(value, text);
        return text.ToString();
    }

    private static void Write(JsonElement value, StringBuilder text)
    {
        switch (value.ValueKind)
        {
            case JsonValueKind.Object:
                text.Append('{');
                foreach (var member in value.EnumerateObject().OrderBy(member => member.Name, StringComparer.Ordinal))
                {
                    WriteText(member.Name, text);
                    Write(member.Value, text);
                }

                text.Append('}');
                break;
            case JsonValueKind.Array:
                text.Append('[');
                foreach (var item in value.EnumerateArray())
                    Write(item, text);
                text.Append(']');
                break;
            case JsonValueKind.String:
                WriteText(value.GetString()!, text);
                break;
            case JsonValueKind.Number:
                WriteNumber(new DecimalText(JsonMarshal.GetRawUtf8Value(value)), text);
                break;
            default:
                text.Append(
                    value.ValueKind == JsonValueKind.True ? 't'
                    : value.ValueKind == JsonValueKind.False ? 'f'
                    : 'n'
                );
                break;
        }
    }

    // With its length, so that no text can look like the values that follow it.
    private static void WriteText(string value, StringBuilder text) =>
        text.Append(CultureInfo.InvariantCulture, $"\"{value.Length}:").Append(value);

    private static void WriteNumber(DecimalText number, StringBuilder text)
    {
        text.Append('#').Append(number.Sign);
        foreach (var digit in number.Whole)
            text.Append((char)digit);
        foreach (var digit in number.Fraction)
            text.Append((char)digit);
        text.Append('e').Append(number.Magnitude);
    }
}
