using System.Text;
using System.Text.Json;
using Esb.Content.Schemas;
using Esb.Content.Schemas.Json;

namespace Esb.Content.Formats.Conversion;

/// <summary>Writes a text of XML as a JSON value of the type that a schema gives it.</summary>
/// <remarks>A text that is not of the type stays a text: the step <c>validate</c> then says where it stands.</remarks>
internal static class TypedText
{
    /// <summary>The member for the text of an element that is an object.</summary>
    public const string Member = "#text";

    private const string Blanks = " \t\r\n";

    public static void Write(string text, ValueTypes? types, Utf8JsonWriter json)
    {
        var allowed = types?.Types ?? JsonTypes.String;
        var trimmed = text.AsSpan().Trim(Blanks);
        if (allowed.HasFlag(JsonTypes.String))
            json.WriteStringValue(text);
        else if ((allowed & JsonTypes.Number) != 0 && NumberOf(trimmed) is { } number)
            json.WriteRawValue(number);
        else if (allowed.HasFlag(JsonTypes.Boolean) && trimmed is "true" or "1" or "false" or "0")
            json.WriteBooleanValue(trimmed is "true" or "1");
        else if (allowed.HasFlag(JsonTypes.Null) && trimmed.IsEmpty)
            json.WriteNullValue();
        else if (allowed.HasFlag(JsonTypes.Object))
            WriteObject(text, types!, json);
        else
            json.WriteStringValue(text);
    }

    // An element without its optional attributes and children.
    private static void WriteObject(string text, ValueTypes types, Utf8JsonWriter json)
    {
        json.WriteStartObject();
        if (text.Length > 0)
        {
            json.WritePropertyName(Member);
            Write(text, types.Member(Member), json);
        }

        json.WriteEndObject();
    }

    // XML Schema also writes +1, 007, .5 and 5. (XML Schema 1.1, part 2, section 3.3.3), which JSON does not.
    private static string? NumberOf(ReadOnlySpan<char> text)
    {
        var number = new StringBuilder(text.Length + 1);
        if (text is ['-', ..])
            number.Append('-');
        if (text is ['-' or '+', ..])
            text = text[1..];
        var whole = Digits(ref text);
        var fraction = text is ['.', ..] ? Digits(ref text, skip: 1) : [];
        if (whole.Length + fraction.Length == 0)
            return null;
        number.Append(whole.TrimStart('0') is { IsEmpty: false } significant ? significant : "0");
        if (!fraction.IsEmpty)
            number.Append('.').Append(fraction);
        if (text.IsEmpty)
            return number.ToString();
        if (text is not ['e' or 'E', ..])
            return null;
        text = text[1..];
        number.Append('e');
        if (text is ['-', ..])
            number.Append('-');
        if (text is ['-' or '+', ..])
            text = text[1..];
        var exponent = Digits(ref text);
        return exponent.IsEmpty || !text.IsEmpty ? null : number.Append(exponent).ToString();
    }

    private static ReadOnlySpan<char> Digits(ref ReadOnlySpan<char> text, int skip = 0)
    {
        text = text[skip..];
        var count = text.IndexOfAnyExceptInRange('0', '9') is var end and >= 0 ? end : text.Length;
        var digits = text[..count];
        text = text[count..];
        return digits;
    }
}
